/**
 * MPC-D is RobustMPC in the form that others compare with (Yin et al., SIGCOMM'15, as Pensieve's artifact implements
 * it). It plans five segments ahead on a constant path of the robust throughput (robust-throughput.ts), with the true
 * sizes of segments. The options `abandon` and `bufferCap` are ablations, which the textbook does not have.
 */

import type { Controller, Decision, InFlight, Pace, PlayerState } from '../controller.ts';
import type { Forecast } from '../forecast.ts';
import { firstChoice, sizesAt } from '../state/facts.ts';
import { robustThroughput } from '../state/robust-throughput.ts';
import { type CapacityPath, ConstantPath } from './capacity-path.ts';
import { type PathPlanner, SegmentPlanner } from './path-planner.ts';
import { TIE_TOLERANCE } from './plan-search.ts';

export interface MpcDOptions {
  /** Name of the controller in its decisions. Default `mpc-d`. */
  name?: string;
  /** Planned segments, 1 to 20. Default 5. */
  horizon?: number;
  /** Whether the plan knows the buffer cap. Default false. */
  bufferCap?: boolean;
  /** Whether downloads that are about to stall are abandoned. Default false. */
  abandon?: boolean;
  /** Whether decisions have `candidates`. Default false. */
  outlook?: boolean;
  /** The plan of live streams. Default: the textbook's, which does not know that playback begins with the first chunk. */
  live?: LivePlan | undefined;
}

/** Plans live streams, which begin to play with the first chunk of a segment. */
export interface LivePlan extends PathPlanner {
  /** The pace from now on. Without `future` it leads back to the target. */
  pace(
    state: PlayerState,
    inFlight: InFlight | undefined,
    future: (Pick<Forecast, 'source' | 'handovers'> & { path: CapacityPath }) | undefined,
  ): Pace;
}

/** Horizon of RobustMPC, in segments (Yin et al., SIGCOMM'15). */
export const DEFAULT_HORIZON = 5;

/**
 * No download is abandoned this soon after its request, because TCP's start limits its rate in the first round trips
 * (dash.js's `ABANDON_GRACE_TIME`).
 */
const GRACE_SECONDS = 0.5;

/** A download counts as at least one full Ethernet packet, so that its rate is above 0 on a dead link, too. */
const PACKET_BITS = 1500 * 8;

/** Abandonments per segment: one if the rate falls, another if it falls again. */
const MAX_ABANDONMENTS = 2;

export function createMpcD(options: MpcDOptions = {}): Controller {
  return new MpcD(options);
}

class MpcD implements Controller {
  readonly name: string;
  /** Absent without the option `abandon`. */
  readonly reconsider?: NonNullable<Controller['reconsider']>;
  private readonly _onDemand: PathPlanner;
  private readonly _live: LivePlan | undefined;

  constructor({ name = 'mpc-d', horizon = DEFAULT_HORIZON, live, bufferCap, abandon, outlook = false }: MpcDOptions) {
    this.name = name;
    this._onDemand = new SegmentPlanner(() => ({ horizon, bufferCap }), outlook);
    this._live = live;
    if (abandon) this.reconsider = (state, inFlight) => this._reconsider(state, inFlight);
  }

  decide(state: PlayerState): Decision {
    const throughput = robustThroughput(state.downloads);
    if (throughput === undefined) return { controller: this.name, ...firstChoice(state) };
    const { robustBps, maxError } = throughput;
    const evidence = `${megabits(robustBps)} (largest error ${Math.round(maxError * 100)} %)`;
    return {
      controller: this.name,
      plannedThroughputBps: robustBps,
      ...this._plannerOf(state).decide(state, new ConstantPath(robustBps), evidence),
    };
  }

  private _plannerOf(state: PlayerState): PathPlanner {
    return (state.live && this._live) || this._onDemand;
  }

  /**
   * Abandons a download on three conditions: at its rate so far, its remaining bits would outlast the buffer by
   * `lateSeconds`; a lower representation has fewer bits; and a plan that begins with this representation is worth more
   * than the plan that completes the download.
   */
  private _reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    const current = state.ladderBps.lastIndexOf(inFlight.bitrateBps);
    const elapsedSeconds = state.nowSeconds - inFlight.requestedAtSeconds;
    const isLimited = inFlight.abandonments >= MAX_ABANDONMENTS || elapsedSeconds < GRACE_SECONDS;
    if (state.isPaused || current <= 0 || isLimited) return 'keep';
    const rateBps = Math.max(inFlight.receivedBits, PACKET_BITS) / elapsedSeconds;
    const restBits = Math.max(0, inFlight.sizeBits - inFlight.receivedBits);
    const playableSeconds = state.bufferLevelSeconds / state.playbackRate;
    const planner = this._plannerOf(state);
    if (restBits / rateBps <= playableSeconds + planner.lateSeconds) return 'keep';

    const sizes = sizesAt(state, 0);
    const planValue = planner.reconsider(state, new ConstantPath(rateBps), inFlight);
    let best = current;
    let bestValue = planValue(current);
    for (let r = current - 1; r >= 0; r--) {
      if (sizes[r]! >= restBits) continue;
      const value = planValue(r);
      if (value - bestValue > TIE_TOLERANCE * Math.abs(value)) [best, bestValue] = [r, value];
    }
    if (best === current) return 'keep';
    return {
      representation: best,
      controller: this.name,
      reason:
        `${megabits(rateBps)} so far: the rest takes ${(restBits / rateBps).toFixed(1)} s, ` +
        `the buffer lasts ${playableSeconds.toFixed(1)} s`,
      plannedThroughputBps: rateBps,
    };
  }
}

function megabits(bps: number): string {
  return `${(bps / 1e6).toPrecision(3)} Mbit/s`;
}
