/**
 * MPC-O: MPC on the true future, the yardstick for the value of forecasts. It plans on the forecast's only path, with
 * MPC-L's horizon and the buffer cap, and never abandons. After the horizon a buffered second has the value of what the
 * true link's mean capacity delivers in it; so its sessions are close to the best ones, but no upper bound. Live it may
 * set the playback rate as MPC-L does.
 */

import { type CapacityPath, ShiftedPath } from './capacity-path.ts';
import type { Controller, Decision, PlayerState } from './controller.ts';
import type { Forecast } from './forecast.ts';
import { horizonOf } from './horizon.ts';
import { createMpcD, type LivePlan } from './mpc-d.ts';
import { outlookOnPath } from './outlook.ts';
import { bestPlan, describePlan } from './planner.ts';
import { QOE_UNIT_SECONDS } from './qoe.ts';

export interface MpcOOptions {
  /** Planned segments. Default: MPC-L's (horizon.ts). */
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
    const horizon = horizonOf(state, this.options);
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

/** The single path of a forecast from now on; undefined without one. */
function trueFuture(state: PlayerState, forecast?: Forecast) {
  if (forecast?.kind !== 'paths' || forecast.paths.length !== 1) return undefined;
  const ageSeconds = state.nowSeconds - forecast.issuedAtMs / 1000;
  const issued = forecast.paths[0]!.path;
  const { source, handovers } = forecast;
  return { path: ageSeconds > 0 ? new ShiftedPath(issued, ageSeconds) : issued, ageSeconds, source, handovers };
}

/**
 * Value of a buffered second to the segments after the horizon: the quality of the bits that the link delivers in it, at
 * its mean capacity from the horizon to the end of the stream. 0 if no segments are left then.
 */
function bufferValue(state: PlayerState, path: CapacityPath, horizon: number): number {
  const { playbackRate, segmentSeconds, segmentsRemaining } = state;
  const leftSegments = segmentsRemaining - horizon;
  if (leftSegments <= 0) return 0;
  const fromSeconds = (horizon * segmentSeconds) / playbackRate;
  const untilSeconds = fromSeconds + (leftSegments * segmentSeconds) / playbackRate;
  // A player at rate 2 shares a second's bits between two seconds of media.
  const bps =
    (path.cumulativeBits(untilSeconds) - path.cumulativeBits(fromSeconds)) /
    (untilSeconds - fromSeconds) /
    playbackRate;
  return (qualityOfRate(state, bps) / QOE_UNIT_SECONDS) * playbackRate;
}

/** The quality of media at a rate of the link, between the two bitrates beside it. */
function qualityOfRate({ ladderBps, weights }: PlayerState, bps: number): number {
  const above = ladderBps.findIndex((bitrate) => bitrate > bps);
  const [lowest, highest] = [ladderBps[0]!, ladderBps.at(-1)!];
  if (above === 0) return (weights.quality(lowest) * bps) / lowest;
  // A link faster than the ladder has bits to spare.
  if (above < 0) return (weights.quality(highest) * highest) / bps;
  const [low, high] = [ladderBps[above - 1]!, ladderBps[above]!];
  const [worse, better] = [weights.quality(low), weights.quality(high)];
  return worse + ((bps - low) / (high - low)) * (better - worse);
}
