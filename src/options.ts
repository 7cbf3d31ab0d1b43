/** The plugin's options, checked once and filled in. */

import type { Controller } from '../abr/controller.ts';
import { InputError } from '../abr/errors.ts';
import type { Forecaster } from '../abr/forecast.ts';
import { CONTROLLER_NAMES, type ControllerName, createController } from './controllers.ts';
import type { Logger } from './events.ts';
import type { SizesFile } from './segment-sizes.ts';

/** UTC and how far it may be off. */
export interface TimeSource {
  now(): { utcMs: number; uncertaintySeconds: number };
}

export interface LeoAbrOptions {
  /**
   * What decides: a name, or an object of your own. A named one is made anew for every source that the player is given;
   * an object is shared by all of them. Default `mpc-d`.
   */
  controller?: ControllerName | Controller;
  /** Segments that a named controller plans ahead, 1 to 20. Default 5. */
  horizon?: number;
  /** Quality that a controller maximises: `linear` in bitrate, or `log`. Default `linear`. */
  qoe?: 'linear' | 'log';
  /** Tells the controller what the link may do next. Default: none. */
  forecaster?: Forecaster;
  /** Where UTC comes from, for handovers. Default: the device's clock, trusted to 2 s. */
  timeSource?: TimeSource;
  /**
   * Sizes of the stream's segments, or where they can be fetched: `{"representations": {"<id>": [bytes per segment]}}`.
   * Default: the stream's own index where it has one, else estimated from what was downloaded.
   */
  sizes?: SizesFile | string | URL;
  /** Seed of everything random, a whole number from 0 to 4294967295. Default 1. */
  seed?: number;
  /** Where faults are written beside the `fault` event; `null` for nowhere. Default `console`. */
  logger?: Logger | null;
}

/** All options with a value, and how to make a controller for a session. */
export interface ResolvedOptions extends Required<Omit<LeoAbrOptions, 'controller' | 'forecaster' | 'sizes'>> {
  newController: () => Controller;
  controllerName: string;
  forecaster: Forecaster | undefined;
  sizes: SizesFile | string | URL | undefined;
}

/** A device's clock that is kept by NTP is right to well under this. */
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;

const DEVICE_CLOCK: TimeSource = {
  now: () => ({ utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }),
};

const LARGEST_SEED = 2 ** 32 - 1;

type Check = readonly [expected: string, holds: (value: unknown) => boolean];

/** What each option has to be, where it is given. */
const CHECKS: { readonly [K in keyof Required<LeoAbrOptions>]: Check } = {
  controller: [
    `${CONTROLLER_NAMES.join(', ')} or a controller`,
    (value) => (CONTROLLER_NAMES as readonly unknown[]).includes(value) || has(value, 'decide'),
  ],
  horizon: ['a whole number from 1 to 20', isWhole(1, 20)],
  qoe: ['linear or log', (value) => value === 'linear' || value === 'log'],
  forecaster: ['start(), observe() and latest()', (value) => has(value, 'start', 'observe', 'latest')],
  timeSource: ['now()', (value) => has(value, 'now')],
  sizes: ['a URL or an object', (value) => typeof value === 'string' || (typeof value === 'object' && value !== null)],
  seed: [`a whole number from 0 to ${LARGEST_SEED}`, isWhole(0, LARGEST_SEED)],
  logger: ['warn() or null', (value) => value === null || has(value, 'warn')],
};

/** Throws an `InputError` (field, expected, received) for the first option that cannot be worked with. */
export function resolveOptions(options: LeoAbrOptions = {}): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw new InputError('options', 'an object', options);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof LeoAbrOptions] : undefined;
    if (check === undefined) throw new InputError(`options.${name}`, `one of ${Object.keys(CHECKS).join(', ')}`, value);
    if (value !== undefined && !check[1](value)) throw new InputError(`options.${name}`, check[0], value);
  }
  const { controller = 'mpc-d', horizon = 5, seed = 1, qoe = 'linear', logger = console } = options;
  const isNamed = typeof controller === 'string';
  return {
    horizon,
    seed,
    qoe,
    logger,
    timeSource: options.timeSource ?? DEVICE_CLOCK,
    forecaster: options.forecaster,
    sizes: options.sizes,
    newController: () => (isNamed ? createController(controller, { horizon }) : controller),
    controllerName: isNamed ? controller : controller.name,
  };
}

function has(value: unknown, ...methods: string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}

function isWhole(least: number, most: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
