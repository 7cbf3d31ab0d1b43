/** The table of options with their checks and defaults, and the options of an attachment with all that follows from them. */

import type { Controller } from '../../abr/controller.ts';
import { check, isPositive } from '../../abr/errors.ts';
import { createMpcD, DEFAULT_HORIZON } from '../../abr/mpc/mpc-d.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { PathPlan } from '../../abr/mpc-l/live/path-plan.ts';

import type { MpcLOptions } from '../../abr/mpc-l/options.ts';
import { SAVING_PRICE_PER_MBPS, USUAL_PRICE_PER_MBPS } from '../../abr/qoe/perceived-qoe.ts';
import type { QoeWeights } from '../../abr/qoe/qoe.ts';

import { LARGEST_HORIZON } from '../../abr/state/horizon.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { type Pictures, weightsOfPictures } from '../decisions/qualities.ts';
import { Forecasting } from '../forecasting/forecasting.ts';
import { PriorForecaster } from '../forecasting/prior-forecaster.ts';
import type { Host } from '../host.ts';
import type { PlayerPort } from '../player-port.ts';
import { parseLists } from '../requests/segment-lists.ts';
import { QUALITY_LISTS } from '../requests/segment-qualities.ts';
import { parseSizes } from '../requests/segment-sizes.ts';
import type { Session } from '../requests/session.ts';
import { type Checks, checkOptions, has, INTERNAL, isFrom, isPlain, isText, isWhole, SWITCH } from './checks.ts';
import type { Events } from './events.ts';
import { JSON_CHECKS, MPC_L_CHECKS } from './json-options.ts';
import {
  CONTROLLER_NAMES,
  type InternalOptions,
  type LeoAbrOptions,
  type LiveOptions,
  type TimeSource,
} from './option-types.ts';

/** The parts of an attachment that forecasts need. */
interface Surroundings {
  events: Events;
  port: Pick<PlayerPort, 'manifestUrl'>;
  session: Session;
}

/** The options of an attachment, with defaults. */
export interface ResolvedOptions
  extends Required<Pick<LeoAbrOptions, 'seed' | 'debug' | 'logger' | 'timeSource' | 'live' | 'cmcd'>> {
  host: Host;
  sizes: LeoAbrOptions['sizes'];
  quality: LeoAbrOptions['quality'];
  /** The controller gets the sizes of at least this many segments, whatever it plans. */
  horizon: number;
  controllerName: string;
  newController(): Controller;
  weightsOf(pictures: Pictures): QoeWeights;
  /** Whether `quality` counts. Otherwise `weightsOf` does. */
  usesQuality: boolean;
  /** Makes the controller's forecasts; undefined without forecasters. */
  newForecasting: ((surroundings: Surroundings) => Forecasting) | undefined;
  /** Downloads in a controller's state. Default 32. */
  downloadsKept?: number;
}

/** Uncertainty of the device's clock; a clock synchronised by NTP is much better. */
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;
const LARGEST_SEED = 2 ** 32 - 1;
const MPC_L = 'mpc-l';

const isFile = (value: unknown) => value instanceof URL || isText(value) || isPlain(value);

const CHECKS: Checks<LeoAbrOptions & InternalOptions> = {
  ...JSON_CHECKS,
  controller: [
    `${CONTROLLER_NAMES.join(', ')} or an object with decide()`,
    (value) => (CONTROLLER_NAMES as readonly unknown[]).includes(value) || has(value, 'decide'),
  ],
  forecasters: ['an array', Array.isArray],
  quality: ['a URL, an object or a function', (value) => isFile(value) || typeof value === 'function'],
  timeSource: ['now()', (value) => has(value, 'now')],
  sizes: ['a URL or an object', isFile],
  live: ['an object', isPlain],
  cmcd: SWITCH,
  seed: isWhole(0, LARGEST_SEED),
  storage: SWITCH,
  debug: ['true, false or a function', (value) => typeof value === 'boolean' || typeof value === 'function'],
  logger: ['warn() or null', (value) => value === null || has(value, 'warn')],
  weights: INTERNAL,
  observed: INTERNAL,
};

const LIVE_CHECKS: Checks<LiveOptions> = {
  minPlaybackRate: isFrom(0.5, 1),
  maxPlaybackRate: isFrom(1, 2),
  targetLatencySeconds: ['a number > 0 (not auto since 0.3.0: leave it out)', isPositive],
  maxLatencySeconds: ['a number > 0', isPositive],
};

/** The controller (abr/mpc-l/options.ts) and the host have the other defaults. */
export const DEFAULTS = {
  cmcd: false,
  controller: MPC_L,
  debug: false,
  forecasters: [],
  live: {},
  pageLoad: false,
  prior: true,
  saveData: 'auto',
  seed: 1,
  storage: true,
} as const satisfies LeoAbrOptions;

type Given = LeoAbrOptions & InternalOptions;
type WithDefaults = Given & Required<Pick<LeoAbrOptions, keyof typeof DEFAULTS>>;

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveOptions(given: Given = {}, host: Host): ResolvedOptions {
  checkOptions(given, CHECKS);
  const options = withDefaults(given);
  const { controller, sizes, live, weights, observed = same, logger = host.console } = options;
  checkOptions(live, LIVE_CHECKS, 'options.live');
  if (typeof sizes === 'object' && !(sizes instanceof URL)) parseSizes(sizes);
  if (isPlain(options.quality)) parseLists(options.quality, QUALITY_LISTS);
  options.forecasters.forEach((one, i) => {
    check(has(one, 'start', 'observe', 'latest'), `options.forecasters[${i}]`, 'start(), observe() and latest()', one);
  });
  if (controller !== MPC_L) {
    for (const name of Object.keys(MPC_L_CHECKS)) {
      const isAbsent = given[name as keyof LeoAbrOptions] === undefined;
      check(isAbsent, `options.${name}`, 'controller mpc-l beside it', controller);
    }
  }
  const { horizon = controller === MPC_L ? LARGEST_HORIZON : DEFAULT_HORIZON, saveData } = options;
  const { qoe = controller === MPC_L ? 'perceived' : 'linear' } = options;
  const newController = controllerOf(options);
  return {
    ...options,
    host,
    logger,
    timeSource: options.timeSource || deviceClock(host),
    sizes,
    quality: options.quality,
    horizon,
    controllerName: typeof controller === 'string' ? controller : controller.name,
    newController: () => observed(newController()),
    usesQuality: qoe === 'perceived',
    weightsOf: weights ?? weightsOfPictures(qoe, pricePerMbpsOf(saveData, host)),
    newForecasting: forecastingOf(options, host),
  };
}

function withDefaults(given: Given): WithDefaults {
  const options: Record<string, unknown> = { ...given };
  for (const name in DEFAULTS) options[name] ??= DEFAULTS[name as keyof typeof DEFAULTS];
  return options as unknown as WithDefaults;
}

const same = <T>(one: T) => one;

function pricePerMbpsOf(saveData: NonNullable<LeoAbrOptions['saveData']>, host: Host): number {
  if (typeof saveData === 'number') return saveData;
  if (saveData === false) return 0;
  return saveData === true || host.savesData() ? SAVING_PRICE_PER_MBPS : USUAL_PRICE_PER_MBPS;
}

function deviceClock(host: Host): TimeSource {
  return { now: () => ({ utcMs: host.utcMs(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }) };
}

function controllerOf(options: WithDefaults): () => Controller {
  const { controller, horizon } = options;
  if (typeof controller === 'object') return () => controller;
  if (controller !== MPC_L) {
    return () => createMpcD({ ...(horizon && { horizon }), outlook: true, live: new PathPlan() });
  }
  // MPC-L reads its own options, and has a default for each that is undefined.
  return () => createLiveMpcL(options as MpcLOptions);
}

function forecastingOf(options: WithDefaults, host: Host): ResolvedOptions['newForecasting'] {
  const { controller, forecasters, prior, storage, cmcd, seed } = options;
  const hasPageForecasters = forecasters.length > 0;
  if (controller !== MPC_L) {
    if (!hasPageForecasters) return undefined;
    return ({ events }) => new Forecasting({ events, forecasters, hasPageForecasters, seed });
  }
  return ({ events, port, session }) => {
    // Choices on demand do not depend on handovers.
    const needsHandovers = () => cmcd || events.isWatched || session.record.live.isRequested;
    const builtIn = createBuiltInForecaster({ newSubSecond: () => new SubSecond(), needsHandovers });
    const statistics = prior && storage ? new PriorForecaster({ port, host }) : undefined;
    return new Forecasting({
      events,
      forecasters: [...forecasters, builtIn, ...(statistics ? [statistics] : [])],
      hasPageForecasters,
      seed,
      pageLoad: options.pageLoad ? () => host.pageLoad() : undefined,
      onStop: () => statistics?.save(),
    });
  };
}
