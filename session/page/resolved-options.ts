/** The complete options of an attachment, those of MPC-D by name, and the options of the entry `leo-abr/mpc-d`. */

import type { Controller } from '../../abr/controller.ts';
import { createMpcD, DEFAULT_HORIZON, type LivePlan } from '../../abr/mpc-d.ts';
import type { LinkWatch, LinkWatchOptions } from '../../predictor/link/link-watch.ts';
import type { Forecasting } from '../forecasting/forecasting.ts';
import type { LiveStream } from '../live/live-stream.ts';
import type { Pacing, PacingParts } from '../live/pacing.ts';
import type { PlayerPort } from '../player-port.ts';
import type { Session } from '../requests/session.ts';
import type { Events } from './events.ts';
import {
  COMMON_CHECKS,
  type CommonOptions,
  checkOptions,
  controllerCheck,
  resolveCommon,
  type SharedOptions,
} from './options.ts';

export interface ResolvedOptions extends SharedOptions {
  /** The controller gets the sizes of at least this many segments. */
  horizon: number;
  controllerName: string;
  newController: () => Controller;
  /** Of a download that is requested now; undefined in entries without forecasts. */
  newLinkWatch?: (atSeconds: number, session: Session, options: Omit<LinkWatchOptions, 'knownBps'>) => LinkWatch;
  /** Of a session; undefined in entries without live streams. */
  newLiveStream?: (() => LiveStream) | undefined;
  /** Undefined where the player alone sets the playback rate. */
  newPacing?: ((parts: PacingParts) => Pacing) | undefined;
  /** Makes the controller's forecasts; undefined without forecasters. */
  newForecasting?: ((surroundings: Surroundings) => Forecasting) | undefined;
}

/** The parts of an attachment that forecasts need. */
export interface Surroundings {
  events: Events;
  port: Pick<PlayerPort, 'manifestUrl'>;
  session: Session;
}

const VARIANTS = { 'mpc-d': {}, 'mpc-d:abandon': { abandon: true }, 'mpc-d:cap': { bufferCap: true } };

export type MpcDName = keyof typeof VARIANTS;

export const MPC_D_NAMES = Object.keys(VARIANTS) as readonly MpcDName[];

export interface MpcDEntryOptions extends CommonOptions {
  /**
   * The controller: a name, or your own object. A named one is made anew for every source of the player; an object is
   * shared by all. Default `mpc-d`.
   */
  controller?: MpcDName | Controller;
}

const CHECKS = { ...COMMON_CHECKS, controller: controllerCheck(MPC_D_NAMES) };

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveMpcDOptions(options: MpcDEntryOptions = {}): ResolvedOptions {
  checkOptions(options, CHECKS);
  return { ...resolveCommon(options), ...mpcDController(options) };
}

/** An MPC-D by name, or the page's own controller. `newLivePlan`: of live streams, in entries that have one. */
export function mpcDController(
  { controller = 'mpc-d', horizon = DEFAULT_HORIZON }: MpcDEntryOptions,
  newLivePlan?: () => LivePlan,
): Pick<ResolvedOptions, 'horizon' | 'controllerName' | 'newController'> {
  return typeof controller === 'string'
    ? {
        horizon,
        controllerName: controller,
        newController: () =>
          createMpcD({ horizon, outlook: true, ...VARIANTS[controller], ...(newLivePlan && { live: newLivePlan() }) }),
      }
    : { horizon, controllerName: controller.name, newController: () => controller };
}
