/** The options of the entries with MPC-L and its forecasts: the main one, and those with its plan for the live edge. */

import type { Controller } from '../../abr/controller.ts';
import { check } from '../../abr/errors.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import type { LivePlan } from '../../abr/mpc-d.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { PathPlan } from '../../abr/mpc-l/live/path-plan.ts';
import { createMpcL } from '../../abr/mpc-l/mpc-l.ts';
import type { MpcLOptions } from '../../abr/mpc-l/options.ts';
import { BuiltInForecaster, type BuiltInForecasterOptions } from '../../predictor/forecast/built-in-forecaster.ts';
import { knownBps, LinkWatch } from '../../predictor/link/link-watch.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { Forecasting } from '../forecasting/forecasting.ts';
import { pageLoad } from '../forecasting/page-load.ts';
import { PriorForecaster } from '../forecasting/prior-forecaster.ts';
import { LIVE_CHECKS } from '../live/live-rate.ts';
import { LiveStream } from '../live/live-stream.ts';
import { Pacing } from '../live/pacing.ts';
import {
  type Checks,
  COMMON_CHECKS,
  type CommonOptions,
  checkOptions,
  controllerCheck,
  has,
  isFrom,
  resolveCommon,
  SWITCH,
} from './options.ts';
import { MPC_D_NAMES, type MpcDName, mpcDController, type ResolvedOptions } from './resolved-options.ts';

const MPC_L = 'mpc-l';

export type ControllerName = typeof MPC_L | MpcDName;

/** Names for the option `controller`. */
export const CONTROLLER_NAMES: readonly ControllerName[] = [MPC_L, ...MPC_D_NAMES];

/** Segments whose sizes a plan knows; later ones, in plans of short segments, count with their bitrate. */
const LONGEST_CHOSEN_HORIZON = 16;

export interface LeoAbrOptions extends CommonOptions {
  /**
   * The controller: a name, or your own object. A named one is made anew for every source of the player; an object is
   * shared by all. Default `mpc-l`.
   */
  controller?: ControllerName | Controller;
  /** Only `mpc-l`: how much it avoids stalls beyond their cost in QoE, 0 to 1. Default 0.1. */
  risk?: number;
  /**
   * Only `mpc-l`: how long half of your viewers watch, in seconds, at least 1; `Infinity`: all of them to the end. A shorter
   * time shows quality sooner and buffers less for later. Default 30.
   */
  watchSeconds?: number;
  /** Only `mpc-l`: abandon a download that would stall playback, for a lower bitrate. Default true. */
  abandon?: boolean;
  /** Only `mpc-l`: largest share of a session's requested bits that abandonment may waste, 0 to 1. Default 1. */
  maxWastedShare?: number;
  /** Only `mpc-l`: use forecasts from the first bytes on; if false, the first decisions are MPC-D's. Default true. */
  startup?: boolean;
  /** Only `mpc-l`: plan with handovers, once the link has shown any. Default true. */
  handover?: boolean;
  /**
   * Only `mpc-l`: keep statistics of the link in localStorage, per origin of the stream, so that the next session need
   * not start at the lowest bitrate. Default true.
   */
  prior?: boolean;
  /**
   * Only `mpc-l`: what the page has loaded of late (Resource Timing) is evidence for the first segment. Leave it off where
   * the page comes from a much nearer server than the video. Default false.
   */
  pageLoad?: boolean;
  /**
   * Your own forecasters, asked in this order. `mpc-l` asks its built-in one after them; other controllers have no
   * other. Default: none.
   */
  forecasters?: readonly Forecaster[];
}

const SHARE = isFrom(0, 1);

const MPC_L_CHECKS = {
  risk: SHARE,
  watchSeconds: isFrom(1, Number.POSITIVE_INFINITY),
  abandon: SWITCH,
  maxWastedShare: SHARE,
  startup: SWITCH,
  handover: SWITCH,
  prior: SWITCH,
  pageLoad: SWITCH,
};

const CHECKS: Checks<LeoAbrOptions> = {
  ...COMMON_CHECKS,
  ...MPC_L_CHECKS,
  controller: controllerCheck(CONTROLLER_NAMES),
  forecasters: ['an array', Array.isArray],
};

/** What the entry for live streams has in addition, or in place of the main entry's. */
interface LiveParts
  extends Pick<BuiltInForecasterOptions, 'newSubSecond'>,
    Pick<ResolvedOptions, 'newLiveStream' | 'newPacing'> {
  /** Default: MPC-L without a plan for the live edge. */
  createController?: typeof createMpcL;
  /** Of MPC-D. Default: the textbook's plan. */
  newLivePlan?: () => LivePlan;
}

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveOptions(
  options: LeoAbrOptions = {},
  { createController = createMpcL, newLivePlan, newSubSecond, ...newParts }: LiveParts = {},
): ResolvedOptions {
  checkOptions(options, CHECKS);
  const { controller = MPC_L, forecasters = [], handover = true, prior = true } = options;
  const common = { ...resolveCommon(options), newLinkWatch, ...newParts };
  const { seed } = common;
  forecasters.forEach((one, i) => {
    const isOne = has(one, 'start', 'observe', 'latest');
    check(isOne, `options.forecasters[${i}]`, 'start(), observe() and latest()', one);
  });
  if (controller !== MPC_L) {
    for (const name of Object.keys(MPC_L_CHECKS)) {
      const isAbsent = options[name as keyof LeoAbrOptions] === undefined;
      check(isAbsent, `options.${name}`, 'controller mpc-l beside it', controller);
    }
    return {
      ...common,
      ...mpcDController({ ...options, controller }, newLivePlan),
      newForecasting:
        forecasters.length > 0
          ? ({ events }) => new Forecasting({ events, forecasters, hasPageForecasters: true, seed })
          : undefined,
    };
  }
  const { horizon, risk, watchSeconds, abandon, maxWastedShare, startup } = options;
  // The controller has a default for each that is undefined.
  const controllerOptions = { horizon, risk, watchSeconds, abandon, maxWastedShare, startup, seed } as MpcLOptions;
  return {
    ...common,
    horizon: horizon ?? LONGEST_CHOSEN_HORIZON,
    controllerName: MPC_L,
    newController: () => createController(controllerOptions),
    newForecasting({ events, port, session }) {
      // Choices on demand do not depend on handovers.
      const needsHandovers = () => common.cmcd || events.isWatched || session.record.live?.isRequested === true;
      const builtIn = new BuiltInForecaster({ handover, newSubSecond, needsHandovers });
      const statistics = prior ? new PriorForecaster({ port, storage: () => globalThis.localStorage }) : undefined;
      return new Forecasting({
        events,
        forecasters: [...forecasters, builtIn, ...(statistics ? [statistics] : [])],
        hasPageForecasters: forecasters.length > 0,
        seed,
        pageLoad: options.pageLoad ? () => pageLoad(performance) : undefined,
        onStop: () => statistics?.save(),
      });
    },
  };
}

const newLinkWatch: NonNullable<ResolvedOptions['newLinkWatch']> = (atSeconds, session, options) =>
  new LinkWatch(atSeconds, { ...options, knownBps: () => knownBps(session.record.downloads) });

/** `resolveOptions` of the entries for live streams. */
export function resolveLiveOptions(options?: LeoAbrOptions): ResolvedOptions {
  const resolved = resolveOptions(options, {
    createController: createLiveMpcL,
    newLivePlan: () => new PathPlan(),
    newSubSecond: () => new SubSecond(),
    newLiveStream: () => new LiveStream(),
    newPacing: (parts) => new Pacing(parts),
  });
  checkOptions(resolved.live, LIVE_CHECKS, 'options.live');
  return resolved;
}
