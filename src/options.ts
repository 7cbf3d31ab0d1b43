/** The plugin's options, checked once and filled in. */

import type { Controller } from '../abr/controller.ts';
import { InputError, requireInteger } from '../abr/errors.ts';
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

/** All options with a value. */
export interface ResolvedOptions {
  newController: () => Controller;
  controllerName: string;
  horizon: number;
  qoe: 'linear' | 'log';
  forecaster: Forecaster | undefined;
  timeSource: TimeSource;
  sizes: SizesFile | string | URL | undefined;
  seed: number;
  logger: Logger | undefined;
}

/** A device's clock that is kept by NTP is right to well under this. */
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;

const DEVICE_CLOCK: TimeSource = {
  now: () => ({ utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }),
};

const KNOWN: readonly (keyof LeoAbrOptions)[] = [
  'controller',
  'horizon',
  'qoe',
  'forecaster',
  'timeSource',
  'sizes',
  'seed',
  'logger',
];

/** Throws an `InputError` (field, expected, received) for the first option that cannot be worked with. */
export function resolveOptions(options: LeoAbrOptions = {}): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw new InputError('options', 'an object', options);
  for (const key of Object.keys(options)) {
    if (!(KNOWN as readonly string[]).includes(key)) {
      throw new InputError(`options.${key}`, `one of ${KNOWN.join(', ')}`, `${key}: ...`);
    }
  }
  const horizon = requireInteger(options.horizon ?? 5, 'options.horizon', { min: 1, max: 20 });
  const seed = requireInteger(options.seed ?? 1, 'options.seed', { min: 0, max: 2 ** 32 - 1 });
  const qoe = options.qoe ?? 'linear';
  if (qoe !== 'linear' && qoe !== 'log') throw new InputError('options.qoe', "'linear' or 'log'", qoe);
  const { controller = 'mpc-d', forecaster, timeSource = DEVICE_CLOCK, sizes } = options;
  requireMethods(forecaster, 'options.forecaster', ['start', 'observe', 'latest']);
  requireMethods(timeSource, 'options.timeSource', ['now']);
  requireMethods(options.logger ?? undefined, 'options.logger', ['warn']);
  if (sizes !== undefined && typeof sizes !== 'string' && (typeof sizes !== 'object' || sizes === null)) {
    throw new InputError('options.sizes', 'an object, a URL or undefined', sizes);
  }
  const common = { horizon, qoe, forecaster, timeSource, sizes, seed };
  const logger = options.logger === null ? undefined : (options.logger ?? console);
  if (typeof controller === 'string') {
    if (!CONTROLLER_NAMES.includes(controller)) {
      throw new InputError('options.controller', `one of ${CONTROLLER_NAMES.join(', ')}, or a controller`, controller);
    }
    const newController = () => createController(controller, { horizon, seed });
    return { ...common, logger, newController, controllerName: controller };
  }
  requireMethods(controller, 'options.controller', ['decide']);
  if (controller.reconsider !== undefined && typeof controller.reconsider !== 'function') {
    throw new InputError('options.controller.reconsider', 'a function or undefined', controller.reconsider);
  }
  return { ...common, logger, newController: () => controller, controllerName: String(controller.name) };
}

function requireMethods(value: unknown, field: string, names: readonly string[]): void {
  if (value === undefined) return;
  if (typeof value !== 'object' || value === null) {
    throw new InputError(field, `an object with ${names.map((name) => `${name}()`).join(', ')}`, value);
  }
  for (const name of names) {
    const method = (value as Record<string, unknown>)[name];
    if (typeof method !== 'function') throw new InputError(`${field}.${name}`, 'a function', method);
  }
}
