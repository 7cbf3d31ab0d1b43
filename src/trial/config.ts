/** A trial's configuration: whether it runs, the shares of its arms, and the plugin's options in them. */

import { check, isFrom } from '../../abr/errors.ts';
import { REPORT_NAME } from '../../abr/qoe/session-report.ts';
import { attempt } from '../../session/page/attempt.ts';
import { type Checks, checkOptions, isPlain, SWITCH } from '../../session/page/checks.ts';
import type { Logger } from '../../session/page/events.ts';
import { JSON_CHECKS } from '../../session/page/json-options.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';

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

export interface ConfigSource {
  /** A `TrialConfig`, or the URL of its JSON (16 kB at most): by https, of the page's own origin, or of localhost. */
  config: string | URL | TrialConfig;
  /** Longest wait for the configuration in seconds, 0 to 10. Default 0.3. */
  configSeconds?: number | undefined;
  /** Receives the reason if a configuration cannot be used. `null` receives none. Default `console`. */
  logger?: Logger | null | undefined;
  /** If `false`, the page keeps no configuration for later sessions. Default true. */
  storage?: boolean;
}

/** Refuses `undefined`, too, which the check of options allows. */
const ABSENT = { schema: 0, enabled: 0, trial: 0, shares: 0 };
const MAX_BYTES = 16_384;
const KEPT_MS = 86_400_000;
const STORAGE_KEY = 'leo-abr-trial';

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

/**
 * Resolves to the configuration after at most `configSeconds`. If it is unreachable, late or invalid, resolves to the
 * address's last good configuration of the last day, or else to undefined. Rejects with an `InputError` for an invalid
 * address or time.
 */
export async function loadConfig({ config, configSeconds = 0.3, logger = console, storage = true }: ConfigSource) {
  check(isFrom(configSeconds, 0, 10), 'trial.configSeconds', 'a number from 0 to 10', configSeconds);
  const url = typeof config === 'string' || config instanceof URL ? allowedUrl(config) : '';
  const current = (async () => {
    try {
      const good = validConfig(url ? await fetchJson(url) : config);
      const kept = JSON.stringify({ url, atMs: Date.now(), config: good });
      if (storage) attempt(() => localStorage.setItem(STORAGE_KEY, kept));
      return good;
    } catch (error) {
      attempt(() => logger?.warn('leo-abr: the configuration of the trial is not usable', error));
      return undefined;
    }
  })();
  // A late configuration is kept for the next session.
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 1000 * configSeconds));
  return (await Promise.race([current, late])) || (storage ? attempt(() => lastGood(url)) : undefined);
}

function allowedUrl(given: string | URL): string {
  const { origin, href } = globalThis.location ?? {};
  const url = attempt(() => new URL(given, href));
  const isLocal = url?.origin === origin || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '');
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  check(isAllowed, 'trial.config', "a URL with https, or of the page's own origin", given);
  return url!.href;
}

async function fetchJson(url: string): Promise<unknown> {
  // The browser asks the CDN whether its copy has changed.
  const response = await fetch(url, { cache: 'no-cache', credentials: 'omit', redirect: 'error' });
  check(response.ok, url, 'status 200', response.status);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let part: ReadableStreamReadResult<Uint8Array>;
  do {
    part = await reader.read();
    text += decoder.decode(part.value, { stream: !part.done });
  } while (!part.done && text.length <= MAX_BYTES);
  // The body may be endless.
  await reader.cancel();
  check(text.length <= MAX_BYTES, url, `at most ${MAX_BYTES} bytes`, text.length);
  return JSON.parse(text);
}

function lastGood(wanted: string): TrialConfig | undefined {
  const { url, atMs, config } = JSON.parse(localStorage.getItem(STORAGE_KEY)!);
  const ageMs = Date.now() - atMs;
  return url === wanted && ageMs >= 0 && ageMs < KEPT_MS ? validConfig(config) : undefined;
}
