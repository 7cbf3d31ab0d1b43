/** Assigns a session or a viewer to an arm of a trial: by a hash of the trial's name and a random number. */

import { check, isFrom, requireObject } from '../../abr/errors.ts';
import { seededRandom, seedOf } from '../../abr/statistics/random.ts';
import { attempt } from '../../session/page/events.ts';
import { CLUSTER_COUNT, type SessionReport } from '../session-report.ts';
import { type ConfiguredOptions, isName, NAME, PLAYER, type TrialConfig } from '../trial-config.ts';
import { type ConfigSource, loadConfig } from './config.ts';

export interface TrialOptions<O extends object = object> {
  /** Name of the trial: up to 64 letters, digits, spaces and `.:+_-`. A new name assigns anew. */
  name: string;
  /** Probability of the arm `leo-abr`, 0 to 1; the other arm is `player`. Not beside `arms`. Default 0.5. */
  share?: number;
  /** The arms by name, equally likely: the plugin's options, or `player`. Default: `leo-abr` with its defaults, and `player`. */
  arms?: Readonly<Record<string, O | typeof PLAYER>>;
  /** `viewer` (default) assigns by a random number in localStorage, which is never sent. `session` assigns each session at random. */
  unit?: 'session' | 'viewer';
  /** Your own key of the unit instead of a random number; it is never sent. */
  key?: string;
  /** `false`: the page keeps no number, so without `key` the unit is `session`. Default true. */
  storage?: boolean;
}

/** A trial whose arms and shares come from a configuration. */
export interface ConfiguredTrial extends ConfigSource, Pick<TrialOptions, 'unit' | 'key' | 'storage'> {}

/** The arm of a session or viewer. Pass it to `reportSessions`. */
export interface Arm<O extends object = object>
  extends Readonly<Required<Pick<SessionReport, 'trial' | 'arm' | 'armShare' | 'unit' | 'cluster'>>> {
  /** The plugin's options. If they are undefined, the player's own algorithm decides: do not attach the plugin. */
  readonly options: O | undefined;
}

const KNOWN = 'a known field, with config or without';
const VIEWER_KEY = 'leo-abr-viewer';

/** Assigns this page's viewer or session. The same name, arms and key give the same arm. Throws an `InputError` for invalid options. */
export function assignArm<O extends object = object>(trial: TrialOptions<O>): Arm<O>;
/**
 * Assigns by a configuration. If the trial is off or has no usable configuration, resolves to undefined: the session then
 * plays without the plugin and in no trial. Changed shares move as few viewers as possible, and no viewer between arms with
 * the plugin. Rejects with an `InputError` for invalid options only, not for an invalid configuration.
 */
export function assignArm(trial: ConfiguredTrial): Promise<Arm<ConfiguredOptions> | undefined>;
export function assignArm(trial: TrialOptions | ConfiguredTrial) {
  const { config, configSeconds, logger, ...plain } = (trial || {}) as TrialOptions & Partial<ConfigSource>;
  const { name, arms, share, key, storage = true, unit = storage || key ? 'viewer' : 'session', ...others } = plain;
  const wrong = config ? { name, arms, share, ...others } : { configSeconds, logger, ...others };
  for (const [field, value] of Object.entries(wrong)) check(value === undefined, `trial.${field}`, KNOWN, value);
  check(unit === 'viewer' || unit === 'session', 'trial.unit', 'viewer or session', unit);
  check(typeof storage === 'boolean', 'trial.storage', 'true or false', storage);
  check(key === undefined || (typeof key === 'string' && key !== ''), 'trial.key', 'text', key);
  if (!config) {
    const isShare = share === undefined || (isFrom(share, 0, 1) && !arms);
    check(isName(name), 'trial.name', NAME, name);
    check(isShare, 'trial.share', 'a number from 0 to 1, not beside arms', share);
    return assigned(name, choicesOf(arms, share), { unit, key, storage });
  }
  return loadConfig({ config, configSeconds, logger, storage }).then((found) =>
    found?.enabled ? assigned(found.trial, configuredChoices(found), { unit, key, storage }) : undefined,
  );
}

type Choice<O extends object> = Pick<Arm<O>, 'arm' | 'armShare' | 'options'>;

function assigned<O extends object>(
  trial: string,
  choices: readonly Choice<O>[],
  { unit, key, storage }: { unit: Arm['unit']; key: string | undefined; storage: boolean },
): Arm<O> {
  const number = key ?? (unit === 'viewer' && storage ? attempt(viewerNumber) : undefined) ?? randomDigits();
  // The generator gives two numbers, so the arm says nothing about the cluster.
  const random = seededRandom(seedOf(`${trial}\n${number}`));
  let rest = random();
  const chosen = choices.find(({ armShare }) => {
    rest -= armShare;
    return rest < 0;
  });
  const cluster = Math.floor(random() * CLUSTER_COUNT);
  return { trial, unit, ...(chosen ?? choices[choices.length - 1]!), cluster };
}

/** One arm grows from 0 upwards and the other from 1 downwards, so each viewer who moves enters or leaves `player`. */
function configuredChoices({ shares, options = {} }: TrialConfig): Choice<ConfiguredOptions>[] {
  const [first, ...second] = Object.keys(shares)
    .filter((arm) => arm !== PLAYER)
    .sort();
  const all = [first!, PLAYER, ...second].map((arm) => {
    return { arm, armShare: shares[arm] ?? 0, options: arm === PLAYER ? undefined : options };
  });
  return all.filter(({ armShare }) => armShare > 0);
}

/** Sorts arms by name, so the order in the page's source does not matter. */
function choicesOf<O extends object>(arms: TrialOptions<O>['arms'], share = 0.5): Choice<O>[] {
  const given = Object.entries(requireObject(arms ?? { 'leo-abr': {}, [PLAYER]: PLAYER }, 'trial.arms')).sort();
  check(given.length >= 2 && given.length <= 10, 'trial.arms', '2 to 10 arms', given.length);
  const choices = given.map(([arm, own]) => {
    check(isName(arm), 'trial.arms', 'names of letters, digits, spaces or .:+_-', arm);
    const armShare = arms ? 1 / given.length : arm === PLAYER ? 1 - share : share;
    return { arm, armShare, options: own === PLAYER ? undefined : (requireObject(own, `trial.arms.${arm}`) as O) };
  });
  return choices.filter(({ armShare }) => armShare > 0);
}

function viewerNumber(): string | undefined {
  if (!localStorage.getItem(VIEWER_KEY)) localStorage.setItem(VIEWER_KEY, randomDigits());
  // A storage may ignore what the page writes.
  return localStorage.getItem(VIEWER_KEY) || undefined;
}

export const randomDigits = () =>
  Array.from({ length: 16 }, () => Math.floor(16 * Math.random()).toString(16)).join('');
