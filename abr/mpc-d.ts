/**
 * MPC-D: RobustMPC as it is usually compared with (Yin et al., SIGCOMM'15, as Pensieve's artifact implements it).
 *
 * It plans five segments ahead on a constant path of the robust throughput (robust-throughput.ts), with the true sizes
 * of the next segments, without a buffer cap and without abandonment. The two deviations that can be asked for are
 * ablations: `abandon` and `bufferCap`.
 */

import { ConstantPath } from './capacity-path.ts';
import type { Controller, Decision, InFlight, PlayerState } from './controller.ts';
import { ConstantPlanner } from './planner/constant-planner.ts';
import { robustThroughput } from './robust-throughput.ts';

export interface MpcDOptions {
  /** What decisions are signed with. Default: `mpc-d` and the ablations that are on. */
  name?: string;
  /** Segments planned ahead. Default 5. */
  horizon?: number;
  /** The plan knows the buffer cap. Default false. */
  bufferCap?: boolean;
  /** Downloads that are about to stall are abandoned. Default false. */
  abandon?: boolean;
  /** Decisions carry what each representation was expected to bring. Default false. */
  outlook?: boolean;
}

/**
 * A download is judged after this many seconds at the earliest: below it the throughput is that of TCP's first round
 * trips (dash.js waits as long, `ABANDON_GRACE_TIME`).
 */
const JUDGED_AFTER_SECONDS = 0.5;

/** How often one segment may be abandoned: once because the rate fell, once more because it fell again. */
const MAX_ABANDONMENTS = 2;

/** Throws `InputError` where an option cannot be worked with. */
export function createMpcD(options: MpcDOptions = {}): Controller {
  return options.abandon ? new AbandoningMpcD(options) : new MpcD(options);
}

class MpcD implements Controller {
  readonly name: string;
  protected readonly planner: ConstantPlanner;
  private readonly outlook: boolean;

  constructor(options: MpcDOptions) {
    const { bufferCap = false, abandon = false, outlook = false } = options;
    this.name = options.name ?? `mpc-d${abandon ? ':abandon' : ''}${bufferCap ? ':cap' : ''}`;
    this.outlook = outlook;
    this.planner = new ConstantPlanner({ horizon: options.horizon ?? 5, bufferCap });
  }

  decide(state: PlayerState): Decision {
    const throughput = robustThroughput(state.downloads);
    if (throughput === undefined) {
      return { representation: 0, controller: this.name, reason: 'nothing measured yet: lowest' };
    }
    const { robustBps, maxError } = throughput;
    const path = new ConstantPath(robustBps);
    this.planner.prepare(state);
    const plan = this.planner.best(path);
    const decision: Decision = {
      representation: plan.representation,
      controller: this.name,
      reason: `${megabits(robustBps)} (error ${Math.round(maxError * 100)} %), stall ${seconds(plan.stallSeconds)}`,
      plannedThroughputBps: robustBps,
    };
    if (this.outlook) decision.candidates = this.planner.outlook(path, state.ladderBps);
    return decision;
  }
}

class AbandoningMpcD extends MpcD {
  /**
   * Abandons a download whose rest, at the rate it has had so far, would outlast the buffer, when the plan that begins
   * with a lower representation is worth more than the plan that sees the download through, and brings its segment
   * sooner. Nothing received yet counts as one packet, so that a dead link is left for the lowest representation.
   */
  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    const current = state.ladderBps.lastIndexOf(inFlight.bitrateBps);
    const elapsedSeconds = state.nowSeconds - inFlight.requestedAtSeconds;
    if (current <= 0 || inFlight.abandonments >= MAX_ABANDONMENTS || elapsedSeconds < JUDGED_AFTER_SECONDS) {
      return 'keep';
    }
    const rateBps = Math.max(inFlight.receivedBits, PACKET_BITS) / elapsedSeconds;
    const restBits = Math.max(0, inFlight.sizeBits - inFlight.receivedBits);
    if (restBits / rateBps <= state.bufferLevelSeconds) return 'keep';

    const rows = state.upcomingSizesBits;
    const sizes = rows[0] ?? state.ladderBps.map((bps) => bps * state.segmentSeconds);
    const withRest = sizes.map((bits, r) => (r === current ? restBits : bits));
    this.planner.prepare({ ...state, upcomingSizesBits: [withRest, ...rows.slice(1)] });
    const { values } = this.planner.weigh(new ConstantPath(rateBps));
    let best = current;
    for (let r = current - 1; r >= 0; r--) {
      if (sizes[r]! < restBits && values[r]! > values[best]!) best = r;
    }
    if (best === current) return 'keep';
    return {
      representation: best,
      controller: this.name,
      reason: `${megabits(rateBps)} so far: ${seconds(restBits / rateBps)} left, buffer ${seconds(state.bufferLevelSeconds)}`,
      plannedThroughputBps: rateBps,
    };
  }
}

/** A full packet of Ethernet. */
const PACKET_BITS = 1500 * 8;

function megabits(bps: number): string {
  return `${(bps / 1e6).toPrecision(3)} Mbit/s`;
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
