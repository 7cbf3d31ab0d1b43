/**
 * MPC-D: RobustMPC in the form that others compare with (Yin et al., SIGCOMM'15, as Pensieve's artifact implements it).
 *
 * It plans five segments ahead on a constant path of the robust throughput (robust-throughput.ts), with the true sizes
 * of the next segments, without a buffer cap and without abandonment. Two options deviate from it, as ablations:
 * `abandon` and `bufferCap`.
 */

import { type CapacityPath, ConstantPath } from './capacity-path.ts';
import type { Controller, Decision, InFlight, Pace, PlayerState } from './controller.ts';
import { requireInteger } from './errors.ts';
import type { Forecast } from './forecast.ts';
import { sizesAt } from './ladder.ts';
import { outlookOnPath } from './outlook.ts';
import { bestPlan, describePlan, MAX_HORIZON, type PlannerOptions, TIE_TOLERANCE } from './planner.ts';
import { robustThroughput } from './robust-throughput.ts';

export interface MpcDOptions {
  /** Name of the controller in its decisions. Default: `mpc-d` and the ablations that are on. */
  name?: string;
  /** Planned segments. Default 5. */
  horizon?: number;
  /** Whether the plan knows the buffer cap. Default false. */
  bufferCap?: boolean;
  /** Whether downloads that are about to stall are abandoned. Default false. */
  abandon?: boolean;
  /** Whether decisions carry an outlook of each representation. Default false. */
  outlook?: boolean;
  /** The plan of live streams. Default: the textbook's, which does not know that playback begins with the first chunk. */
  live?: LivePlan;
}

/** A plan on one capacity path, whose second 0 is the state's now. */
interface PathPlanner {
  /** `evidence`: where the path comes from, for the reason. */
  decide(
    state: PlayerState,
    path: CapacityPath,
    evidence: string,
  ): Pick<Decision, 'representation' | 'reason' | 'candidates'>;
  /** A running download is kept unless it is expected to stall playback for this long. */
  readonly lateSeconds: number;
  /** The value of each representation from now on: of the rest of the download in flight, or of its replacement. */
  reconsider(state: PlayerState, path: CapacityPath, inFlight: InFlight): (representation: number) => number;
}

/** Plans live streams, which begin to play with the first chunk of a segment. */
export interface LivePlan extends PathPlanner {
  /** How to play from now on; back to the target without a path. */
  pace(
    state: PlayerState,
    inFlight: InFlight | undefined,
    future: (Pick<Forecast, 'source' | 'handovers'> & { path: CapacityPath }) | undefined,
  ): Pace;
}

/** Horizon of RobustMPC, in segments (Yin et al., SIGCOMM'15). */
const DEFAULT_HORIZON = 5;

/**
 * Time after its request during which no download is abandoned, because its rate is still that of TCP's first round
 * trips (dash.js's `ABANDON_GRACE_TIME`).
 */
const GRACE_SECONDS = 0.5;

/**
 * A download that received nothing counts as one full Ethernet packet, so that its rate is above 0 and on a dead link
 * the lowest representation replaces it.
 */
const PACKET_BITS = 1500 * 8;

/** Most abandonments of one segment: one because the rate fell, another because it fell again. */
const MAX_ABANDONMENTS = 2;

/** Throws `InputError` for an invalid option. */
export function createMpcD(options: MpcDOptions = {}): Controller {
  return options.abandon ? new AbandoningMpcD(options) : new MpcD(options);
}

/** Plans whole segments, as RobustMPC does. */
class TextbookPlan implements PathPlanner {
  readonly lateSeconds = 0;
  readonly #options: PlannerOptions;
  readonly #outlook: boolean;

  constructor(options: PlannerOptions, outlook: boolean) {
    this.#options = options;
    this.#outlook = outlook;
  }

  decide(state: PlayerState, path: CapacityPath, evidence: string) {
    const plan = bestPlan(state, path, this.#options);
    return {
      representation: plan.representation,
      reason: `${evidence}: ${describePlan(plan, state.segmentSeconds)}`,
      ...(this.#outlook && { candidates: outlookOnPath(state, path) }),
    };
  }

  reconsider(state: PlayerState, path: CapacityPath, { bitrateBps, sizeBits, receivedBits }: InFlight) {
    const [...sizesBits] = sizesAt(state, 0);
    sizesBits[state.ladderBps.lastIndexOf(bitrateBps)] = Math.max(0, sizeBits - receivedBits);
    const resumed = { ...state, upcomingSizesBits: [sizesBits, ...state.upcomingSizesBits.slice(1)] };
    return (first: number) => bestPlan(resumed, path, { ...this.#options, first }).value;
  }
}

class MpcD implements Controller {
  readonly name: string;
  readonly #textbook: PathPlanner;
  readonly #live: LivePlan | undefined;

  constructor(options: MpcDOptions) {
    const { bufferCap = false, abandon = false, outlook = false, horizon = DEFAULT_HORIZON } = options;
    this.name = options.name ?? `mpc-d${abandon ? ':abandon' : ''}${bufferCap ? ':cap' : ''}`;
    requireInteger(horizon, 'options.horizon', { min: 1, max: MAX_HORIZON });
    this.#textbook = new TextbookPlan({ horizon, bufferCap }, outlook);
    this.#live = options.live;
  }

  decide(state: PlayerState): Decision {
    const throughput = robustThroughput(state.downloads);
    if (throughput === undefined) {
      return { representation: 0, controller: this.name, reason: 'nothing measured yet: lowest' };
    }
    const { robustBps, maxError } = throughput;
    const evidence = `${megabits(robustBps)} (largest error ${Math.round(maxError * 100)} %)`;
    return {
      controller: this.name,
      plannedThroughputBps: robustBps,
      ...this.planOf(state).decide(state, new ConstantPath(robustBps), evidence),
    };
  }

  protected planOf(state: PlayerState): PathPlanner {
    return (state.live && this.#live) ?? this.#textbook;
  }
}

class AbandoningMpcD extends MpcD {
  /**
   * Abandons a download on three conditions: at its rate so far, its remaining bits would outlast the buffer (live, by
   * `lateSeconds`); a lower representation has fewer bits than remain; and a plan that begins with it is worth more than
   * the plan that completes the download.
   */
  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    if (state.isPaused) return 'keep';
    const current = state.ladderBps.lastIndexOf(inFlight.bitrateBps);
    const elapsedSeconds = state.nowSeconds - inFlight.requestedAtSeconds;
    if (current <= 0 || inFlight.abandonments >= MAX_ABANDONMENTS || elapsedSeconds < GRACE_SECONDS) {
      return 'keep';
    }
    const rateBps = Math.max(inFlight.receivedBits, PACKET_BITS) / elapsedSeconds;
    const restBits = Math.max(0, inFlight.sizeBits - inFlight.receivedBits);
    const playableSeconds = state.bufferLevelSeconds / state.playbackRate;
    const plan = this.planOf(state);
    if (restBits / rateBps <= playableSeconds + plan.lateSeconds) return 'keep';

    const sizes = sizesAt(state, 0);
    const planValue = plan.reconsider(state, new ConstantPath(rateBps), inFlight);
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
        `${megabits(rateBps)} so far: the rest takes ${seconds(restBits / rateBps)}, ` +
        `the buffer lasts ${seconds(playableSeconds)}`,
      plannedThroughputBps: rateBps,
    };
  }
}

function megabits(bps: number): string {
  return `${(bps / 1e6).toPrecision(3)} Mbit/s`;
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
