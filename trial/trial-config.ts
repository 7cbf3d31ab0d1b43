/** A trial's configuration: whether it runs, the shares of its arms, and the plugin's options in them. */

import { isFrom } from '../abr/errors.ts';
import { type Checks, checkOptions, isPlain, SWITCH } from '../session/page/checks.ts';
import { JSON_CHECKS } from '../session/page/json-options.ts';
import type { LeoAbrOptions } from '../session/page/option-types.ts';
import { REPORT_NAME } from './session-report.ts';

/** The name of the player's own algorithm, as an arm and as a session's algorithm. */
export const PLAYER = 'player';

/** The plugin's options that a configuration may set. */
export type ConfiguredOptions = Pick<LeoAbrOptions, keyof typeof JSON_CHECKS>;

/** The content of a trial's configuration. Other fields are invalid. */
export interface TrialConfig {
  schema: 1;
  /** If `false`, new sessions play without the plugin and in no trial. */
  enabled: boolean;
  /** The trial's name, as `TrialOptions.name`. */
  trial: string;
  /** Probabilities of `player` and of one or two other arms, 0 to 1; their sum is 1. */
  shares: Readonly<Record<string, number>>;
  /** Options of the plugin in all arms but `player`. Default: none. */
  options?: ConfiguredOptions;
}

/** Refuses `undefined`, too, which the check of options allows. */
const ABSENT = { schema: 0, enabled: 0, trial: 0, shares: 0 };
/** The largest file, in bytes. */
export const MAX_BYTES = 16_384;

export const NAME = 'a name of 1 to 64 letters, digits, spaces or .:+_-';

const CHECKS: Checks<TrialConfig> = {
  schema: ['1', (value) => value === 1],
  enabled: SWITCH,
  trial: [NAME, isName],
  shares: ['shares of player and one or two other arms, with the sum 1', isShares],
  options: ['an object', isPlain],
};

/** Returns `value` if it is a valid configuration, else throws an `InputError`. */
export function validConfig(value: unknown): TrialConfig {
  const config = { ...ABSENT, ...(value as TrialConfig) };
  checkOptions(config, CHECKS, 'config');
  checkOptions(config.options ?? {}, JSON_CHECKS, 'config.options');
  return config;
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && REPORT_NAME.test(value);
}

function isShares(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const shares = Object.entries(value);
  const others = shares.filter(([name]) => name !== PLAYER).length;
  const sum = shares.reduce((sum, [name, share]) => (isName(name) && isFrom(share, 0, 1) ? sum + share : 2), 0);
  return others > 0 && others < 3 && Math.abs(sum - 1) < 1e-9;
}
