/**
 * MPC-O: MPC on the true future, the yardstick for the value of forecasts. It plans on the forecast's only path, with
 * MPC-L's horizon and the buffer cap, and never abandons. A buffered second after the horizon is worth what the link
 * delivers in it on average; near the end the plan is that of all the segments left. Live it may set the playback rate
 * as MPC-L does.
 */

import { type CapacityPath, ShiftedPath } from './capacity-path.ts';
import type { Controller, Decision, PlayerState } from './controller.ts';
import type { Forecast } from './forecast.ts';
import { horizonOf, LARGEST_HORIZON, qualityOfRate } from './horizon.ts';
import { createMpcD, type LivePlan } from './mpc-d.ts';
import { outlookOnPath } from './outlook.ts';
import { bestPlan, describePlan } from './planner.ts';
import { QOE_UNIT_SECONDS } from './qoe.ts';

export interface MpcOOptions {
  /** Planned segments. Default: MPC-L's (horizon.ts), and all that are left where they are few. */
  horizon?: number;
  /** Whether decisions carry an outlook of each representation. Default false. */
  outlook?: boolean;
  /** The plan of live streams. Default: the textbook's. */
  live?: LivePlan;
}

/** Throws `InputError` for an invalid option. */
export function createMpcO(options: MpcOOptions = {}): Controller {
  return new MpcO(options);
}

class MpcO implements Controller {
  readonly name = 'mpc-o';
  /** Only with a plan of live streams: towards the target without a single path. */
  readonly pace?: NonNullable<Controller['pace']>;
  private readonly options: MpcOOptions;
  private readonly fallback: Controller;

  constructor(options: MpcOOptions) {
    this.options = options;
    this.fallback = createMpcD(options);
    const { live } = options;
    if (live) this.pace = (state, inFlight, forecast) => live.pace(state, inFlight, trueFuture(state, forecast));
  }

  /** Decides as MPC-D does unless the forecast is a single path. */
  decide(state: PlayerState, forecast?: Forecast): Decision {
    const { live, outlook } = this.options;
    const future = trueFuture(state, forecast);
    if (future === undefined) {
      const decision = this.fallback.decide(state);
      return { ...decision, controller: this.name, reason: `no path: mpc-d, ${decision.reason}` };
    }
    const { path, ageSeconds, source } = future;
    const common = { controller: this.name, forecastSource: source, forecastAgeSeconds: ageSeconds };
    if (state.live && live) return { ...common, ...live.decide(state, path, 'true path') };
    const isNearEnd = state.segmentsRemaining <= LARGEST_HORIZON;
    const horizon = this.options.horizon ?? (isNearEnd ? state.segmentsRemaining : horizonOf(state));
    const bufferValuePerSecond = bufferValue(state, path, horizon);
    const plan = bestPlan(state, path, { horizon, bufferCap: true, bufferValuePerSecond });
    const decision: Decision = {
      ...common,
      representation: plan.representation,
      reason: `true path: ${describePlan(plan, state.segmentSeconds)}`,
    };
    if (outlook) decision.candidates = outlookOnPath(state, path);
    return decision;
  }
}

/**
 * Value of a buffered second to the segments after the horizon: the quality of the bits that the link delivers in it, at
 * its mean capacity from the horizon to the end of the stream; at most what a second of stall costs. 0 if none are left,
 * or if the stream has no end.
 */
function bufferValue(state: PlayerState, path: CapacityPath, horizon: number): number {
  const { ladderBps, playbackRate, segmentSeconds, segmentsRemaining, weights } = state;
  const mediaSeconds = (segmentsRemaining - horizon) * segmentSeconds;
  if (!(mediaSeconds > 0 && mediaSeconds < Number.POSITIVE_INFINITY)) return 0;
  const fromSeconds = (horizon * segmentSeconds) / playbackRate;
  const untilSeconds = fromSeconds + mediaSeconds / playbackRate;
  const bps = (path.cumulativeBits(untilSeconds) - path.cumulativeBits(fromSeconds)) / mediaSeconds;
  const quality = qualityOfRate(ladderBps, ladderBps.map(weights.quality), bps);
  return Math.min(weights.mu, (quality / QOE_UNIT_SECONDS) * playbackRate);
}

/** The single path of a forecast from now on; undefined without one. */
function trueFuture(state: PlayerState, forecast?: Forecast) {
  if (forecast?.kind !== 'paths' || forecast.paths.length !== 1) return undefined;
  const ageSeconds = state.nowSeconds - forecast.issuedAtMs / 1000;
  const issued = forecast.paths[0]!.path;
  const { source, handovers } = forecast;
  return { path: ageSeconds > 0 ? new ShiftedPath(issued, ageSeconds) : issued, ageSeconds, source, handovers };
}
