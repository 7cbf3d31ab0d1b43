/**
 * MPC-O plans on the true future and is the yardstick for the value of forecasts. It knows the buffer cap, has MPC-L's
 * horizon, and never abandons. A buffered second after the horizon is worth what the link delivers in it on average.
 */

import type { Controller, Decision, PlayerState } from '../controller.ts';
import { ageSecondsOf, type Forecast } from '../forecast.ts';
import {
  bufferedSecondValue,
  DEFAULT_WATCH_SECONDS,
  horizonOf,
  LARGEST_HORIZON,
  watchShares,
  worthsAt,
} from '../state/facts.ts';
import { type CapacityPath, ShiftedPath } from './capacity-path.ts';
import { createMpcD, type LivePlan, type MpcDOptions } from './mpc-d.ts';
import { type PathPlanner, SegmentPlanner } from './path-planner.ts';

/** Default of `name`: `mpc-o`. */
export interface MpcOOptions extends Pick<MpcDOptions, 'name' | 'outlook' | 'live'> {
  /** Planned segments, 1 to 20. Default: all that are left if they are at most 16, else MPC-L's number (state/facts.ts). */
  horizon?: number;
  /** Median watch time of the viewers in seconds, as for MPC-L. Default 30; `Infinity`: nobody leaves. */
  watchSeconds?: number;
}

export class MpcO implements Controller {
  readonly name: string;
  /** Absent without a plan of live streams. */
  readonly pace?: NonNullable<Controller['pace']>;
  private readonly _onDemand: PathPlanner;
  private readonly _live: LivePlan | undefined;
  private readonly _fallback: Controller;

  constructor(options: MpcOOptions = {}) {
    const { name = 'mpc-o', horizon, watchSeconds = DEFAULT_WATCH_SECONDS, outlook = false, live } = options;
    this.name = name;
    this._onDemand = new SegmentPlanner((state, path) => {
      const isWhole = state.segmentsRemaining <= LARGEST_HORIZON;
      const segments = Math.min(horizon ?? (isWhole ? LARGEST_HORIZON : horizonOf(state)), state.segmentsRemaining);
      const shares = watchShares(state, segments, watchSeconds);
      const bufferValuePerSecond = shares[shares.length - 1]! * valueAfter(segments, state, path);
      return { horizon: segments, bufferCap: true, bufferValuePerSecond, watchShares: shares };
    }, outlook);
    this._live = live;
    this._fallback = createMpcD(options);
    if (live) this.pace = (state, inFlight, forecast) => live.pace(state, inFlight, trueFuture(state, forecast));
  }

  /** Decides as MPC-D does unless the forecast is a path. */
  decide(state: PlayerState, forecast?: Forecast): Decision {
    const future = trueFuture(state, forecast);
    if (future === undefined) {
      const decision = this._fallback.decide(state);
      return { ...decision, controller: this.name, reason: `no path: mpc-d, ${decision.reason}` };
    }
    return {
      controller: this.name,
      forecastSource: future.source,
      forecastAgeSeconds: future.ageSeconds,
      ...((state.live && this._live) ?? this._onDemand).decide(state, future.path, 'true path'),
    };
  }
}

/** The forecast's path from now on; undefined if it has none. */
function trueFuture(state: PlayerState, forecast?: Forecast) {
  if (forecast?.kind !== 'path') return undefined;
  const ageSeconds = ageSecondsOf(forecast, state.nowSeconds);
  const { path: issued, source, handovers } = forecast;
  return { path: ageSeconds > 0 ? new ShiftedPath(issued, ageSeconds) : issued, ageSeconds, source, handovers };
}

/**
 * Value of a buffered second to the segments after the horizon, at the path's mean capacity from the horizon to the end
 * of the stream; at most mu. 0 if no segments are left or the stream has no end.
 */
function valueAfter(horizon: number, state: PlayerState, path: CapacityPath): number {
  const { playbackRate, segmentSeconds, segmentsRemaining, weights } = state;
  const seconds = ((segmentsRemaining - horizon) * segmentSeconds) / playbackRate;
  if (!(seconds > 0 && seconds < Number.POSITIVE_INFINITY)) return 0;
  const fromSeconds = (horizon * segmentSeconds) / playbackRate;
  const linkBps = (path.cumulativeBits(fromSeconds + seconds) - path.cumulativeBits(fromSeconds)) / seconds;
  return Math.min(weights.mu, bufferedSecondValue(state, worthsAt(state, horizon), linkBps));
}
