/** The options that all entries share, their checks, and their resolved form. */

import { check, isFrom as isBetween } from '../../abr/errors.ts';
import type { Logger } from './events.ts';
import { parseSizes, type SizesFile } from './segment-sizes.ts';

/** UTC and its uncertainty. */
export interface TimeSource {
  now(): { utcMs: number; uncertaintySeconds: number };
}

/** How a live stream may play. Defaults are the stream's and the player's. */
export interface LiveOptions {
  /** Slowest playback rate, 0.5 to 1. Default: the stream's or the player's; 0.95 where neither sets one. */
  minPlaybackRate?: number;
  /** Fastest playback rate, 1 to 2. Default: the stream's or the player's; 1.05 where neither sets one. */
  maxPlaybackRate?: number;
  /** Target latency in seconds; `auto` leaves it to a controller that can choose one. Default: the player's. */
  targetLatencySeconds?: number | 'auto';
  /**
   * Playback that is later than this jumps to the target: a latency in seconds, larger than the target (a smaller one is
   * ignored). Default: the player's.
   */
  maxLatencySeconds?: number;
}

export interface CommonOptions {
  /** Segments that a named controller plans ahead, 1 to 20. Default: the controller's own. */
  horizon?: number;
  /** Quality that a controller maximises: `linear` in bitrate, or `log`. Default `linear`. */
  qoe?: 'linear' | 'log';
  /** Source of UTC, for handovers. Default: the device's clock, with an uncertainty of 2 s. */
  timeSource?: TimeSource;
  /**
   * Sizes of the stream's segments, or their URL: `{"representations": {"<id>": [bytes per segment]}}`. Default: the
   * stream's own index if it has one, else estimates from earlier downloads.
   */
  sizes?: SizesFile | string | URL;
  /** Playback rate and latency of live streams, in the entries for them; others ignore it. */
  live?: LiveOptions;
  /**
   * Turn on the player's CMCD (CTA-5004), and add the plugin's keys to the value in its requests: forecast source,
   * capacity, next handover. A page's own configuration of CMCD stays. Default false.
   */
  cmcd?: boolean;
  /** Seed of all random numbers, a whole number from 0 to 4294967295. Default 1. */
  seed?: number;
  /** Faults are written here as well as emitted; `null` for nowhere. Default `console`. */
  logger?: Logger | null;
  /** One line per decision and pace: `true` for `console.debug`, or a function that gets it. Default false. */
  debug?: boolean | ((line: string) => void);
}

/** The shared options with defaults. `sizes` and `horizon` have none. */
export interface SharedOptions extends Required<Omit<CommonOptions, 'horizon' | 'sizes'>> {
  sizes: SizesFile | string | URL | undefined;
}

/** A clock synchronised by NTP is much better than this. */
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;

const DEVICE_CLOCK: TimeSource = {
  now: () => ({ utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }),
};

const LARGEST_SEED = 2 ** 32 - 1;

/** The check of an option's value, if given. */
export type Check = readonly [expected: string, holds: (value: unknown) => boolean];
export type Checks<O> = { readonly [K in keyof Required<O>]: Check };

export const SWITCH: Check = ['true or false', (value) => typeof value === 'boolean'];

export const COMMON_CHECKS: Checks<CommonOptions> = {
  horizon: isWhole(1, 20),
  qoe: ['linear or log', (value) => value === 'linear' || value === 'log'],
  timeSource: ['now()', (value) => has(value, 'now')],
  sizes: ['a URL or an object', (value) => value instanceof URL || isText(value) || isPlain(value)],
  live: ['an object', isPlain],
  cmcd: SWITCH,
  seed: isWhole(0, LARGEST_SEED),
  debug: ['true, false or a function', (value) => typeof value === 'boolean' || typeof value === 'function'],
  logger: ['warn() or null', (value) => value === null || has(value, 'warn')],
};

/** The check of the option `controller`. */
export function controllerCheck(names: readonly string[]): Check {
  return [
    `${names.join(', ')} or an object with decide()`,
    (value) => names.includes(value as string) || has(value, 'decide'),
  ];
}

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function checkOptions<O extends object>(options: O, checks: Checks<O>, path = 'options'): void {
  check(isPlain(options), path, 'an object', options);
  for (const [name, value] of Object.entries(options)) {
    const rule: Check | undefined = Object.hasOwn(checks, name) ? checks[name as keyof O] : undefined;
    check(rule !== undefined, `${path}.${name}`, `one of ${Object.keys(checks).join(', ')}`, value);
    const [expected, holds] = rule;
    check(value === undefined || holds(value), `${path}.${name}`, expected, value);
  }
}

/** The shared options with defaults; `options` have been checked, except the content of `sizes`. */
export function resolveCommon(options: CommonOptions): SharedOptions {
  const {
    seed = 1,
    qoe = 'linear',
    logger = console,
    debug = false,
    timeSource = DEVICE_CLOCK,
    sizes,
    live = {},
    cmcd = false,
  } = options;
  if (typeof sizes === 'object' && !(sizes instanceof URL)) parseSizes(sizes);
  return { seed, qoe, logger, debug, timeSource, sizes, live, cmcd };
}

/** Whether `value` is an object with these methods. */
export function has(value: unknown, ...methods: string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}

/** Whether `value` is an object of fields: no array, element, map, date or the like. */
export function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

export function isFrom(least: number, most: number): Check {
  return [`a number from ${least} to ${most}`, (value) => isBetween(value, least, most)];
}

function isWhole(least: number, most: number): Check {
  return [
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  ];
}
