/**
 * The composition root: puts a session's controller, weights, forecasts and clock together, from the options of a page
 * or of our own tools (simulator, benchmark, demo). The flow (`flow.ts`) then runs them.
 */

import type { Controller } from '../abr/controller.ts';
import type { Forecaster } from '../abr/forecast.ts';
import { createMpcD } from '../abr/mpc/mpc-d.ts';
import { createLiveMpcL } from '../abr/mpc-l/live/live-mpc-l.ts';
import { PathPlan } from '../abr/mpc-l/live/path-plan.ts';
import type { MpcLOptions } from '../abr/mpc-l/options.ts';
import { SAVING_PRICE_PER_MBPS, USUAL_PRICE_PER_MBPS } from '../abr/qoe/perceived-qoe.ts';
import type { QoeWeights } from '../abr/qoe/qoe.ts';
import { createBuiltInForecaster } from '../predictor/forecast/built-in-forecaster.ts';
import { deviceClock } from './clock.ts';
import { Forecasting } from './forecasting/forecasting.ts';
import { PriorForecaster } from './forecasting/prior-forecaster.ts';
import type { Host } from './host.ts';
import type { Events } from './page/events.ts';
import type { LeoAbrOptions, TimeSource } from './page/option-types.ts';
import { MPC_L, type PageOptions } from './page/options.ts';
import type { PlayerPort } from './player-port.ts';
import { type Pictures, weightsOfPictures } from './state.ts';

/** The parts that our own tools replace. Pages cannot: the package's entries pass none. */
export interface Tools extends Partial<Pick<ResolvedOptions, 'weightsOf' | 'downloadsKept'>> {
  /** Wraps each controller, to observe its answers. */
  observed?: (controller: Controller) => Controller;
  /** The only forecaster of a controller that is an object, instead of the page's. */
  forecaster?: Forecaster | undefined;
}

/** The parts of an attachment that forecasts need. */
interface Surroundings {
  events: Events;
  port: Pick<PlayerPort, 'manifestUrl'>;
  /** Whether forecasts have to follow handovers. */
  needsHandovers(): boolean;
}

/** The options of an attachment, and the parts that follow from them. */
export interface ResolvedOptions
  extends Pick<PageOptions, 'debug' | 'live' | 'cmcd' | 'sizes' | 'quality' | 'horizon'> {
  host: Host;
  logger: NonNullable<LeoAbrOptions['logger']> | null;
  timeSource: TimeSource;
  controllerName: string;
  newController(): Controller;
  weightsOf(pictures: Pictures): QoeWeights;
  /** Whether `quality` counts. Otherwise `weightsOf` does. */
  usesQuality: boolean;
  /** Makes the controller's forecasts; undefined without forecasters. */
  newForecasting: ((surroundings: Surroundings) => Forecasting) | undefined;
  /** Downloads in a controller's state. Default 32. */
  downloadsKept?: number | undefined;
}

export function assemble(options: PageOptions, host: Host, tools: Tools = {}): ResolvedOptions {
  const { controller, saveData, logger = host.console } = options;
  const { qoe = controller === MPC_L ? 'perceived' : 'linear' } = options;
  const { observed } = tools;
  const newController = controllerOf(options);
  return {
    ...options,
    host,
    logger,
    timeSource: options.timeSource || deviceClock(host),
    controllerName: typeof controller === 'string' ? controller : controller.name,
    newController: observed ? () => observed(newController()) : newController,
    usesQuality: qoe === 'perceived',
    weightsOf: weightsOfPictures(qoe, pricePerMbpsOf(saveData, host)),
    newForecasting: forecastingOf(options, host, tools.forecaster),
    ...tools,
  };
}

function pricePerMbpsOf(saveData: PageOptions['saveData'], host: Host): number {
  if (typeof saveData === 'number') return saveData;
  if (saveData === false) return 0;
  return saveData === true || host.savesData() ? SAVING_PRICE_PER_MBPS : USUAL_PRICE_PER_MBPS;
}

function controllerOf(options: PageOptions): () => Controller {
  const { controller, horizon } = options;
  if (typeof controller === 'object') return () => controller;
  if (controller !== MPC_L) {
    return () => createMpcD({ ...(horizon && { horizon }), outlook: true, live: new PathPlan() });
  }
  // MPC-L reads its own options, and has a default for each that is undefined.
  return () => createLiveMpcL(options as MpcLOptions);
}

function forecastingOf(options: PageOptions, host: Host, only?: Forecaster): ResolvedOptions['newForecasting'] {
  const { controller, prior, storage, seed } = options;
  const hasPageForecasters = options.forecasters.length > 0;
  if (controller !== MPC_L) {
    const forecasters = only ? [only] : options.forecasters;
    if (!forecasters.length) return undefined;
    return ({ events }) => new Forecasting({ events, forecasters, hasPageForecasters, seed });
  }
  return ({ events, port, needsHandovers }) => {
    const builtIn = createBuiltInForecaster({ needsHandovers });
    const statistics = prior && storage ? new PriorForecaster({ port, host }) : undefined;
    return new Forecasting({
      events,
      forecasters: [...options.forecasters, builtIn, ...(statistics ? [statistics] : [])],
      hasPageForecasters,
      seed,
      pageLoad: options.pageLoad ? () => host.pageLoad() : undefined,
      onStop: () => statistics?.save(),
    });
  };
}
