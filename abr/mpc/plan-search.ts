/**
 * The exact finite-horizon planner of MPC-D and MPC-O, on one capacity path.
 *
 * It maximises the terms of the session's QoE (qoe.ts) over the next n segments,
 *
 *   sum q(R_k) * segmentSeconds/4  -  mu * sum stall_k  -  stall * stalls  -  lambda * falls of q  -  rise * rises of q
 *
 * A plan runs on the clock, so buffer levels and segment durations are divided by the playback rate: at rate 2 a
 * segment of 4 s plays for 2 s. With t the time, B the buffer, d the download time on the path, and room the most that
 * the buffer may hold when a request leaves (infinite if the plan does not know the cap):
 *
 *   wait = max(0, B - room),  stall = max(0, d - (B - wait)),  t += wait + d,  B = max(0, B - wait - d) + segment
 *
 * Before the first picture nothing plays: the first download costs mu per second and the buffer keeps what it has.
 * While the player is paused the first download costs nothing.
 *
 * The search goes forward segment by segment and drops partial plans in two ways. A *bound*: even without any further
 * stall the plan would be worth less than a known one. *Dominance*: among plans with the same last representation, one
 * is dropped if another is as early and every continuation of the other is worth at least as much. Links are first in,
 * first out, so an earlier request never arrives later, and the same continuation stalls longer by at most what its
 * buffer ends earlier (t + B), in one more stall per segment at most.
 *
 * Among equal plans the one with the lowest first representation wins. Pensieve's artifact chooses the same: it goes
 * through the plans in lexicographic order and keeps the first best. Values count as equal within `TIE_TOLERANCE` of
 * the largest |q|, so that neither pruning nor the order of additions decides.
 */

import type { PlayerState } from '../controller.ts';
import { changeCost, QOE_UNIT_SECONDS, stallCost } from '../qoe/qoe.ts';
import { sizesAt } from '../state/ladder.ts';
import { qualitiesAt, switchCosts } from '../state/qualities.ts';
import type { CapacityPath } from './capacity-path.ts';

/** Plans whose values differ by less than this share of the largest |q| are equal. */
export const TIE_TOLERANCE = 1e-9;

export interface PlanOptions {
  /** Planned segments, at least 1; a plan ends with the stream. */
  horizon: number;
  /** Whether the plan knows the state's buffer cap. Default false, as in the textbook. */
  bufferCap?: boolean | undefined;
  /** The first representation, if it is given. Default: any. */
  first?: number;
  /** Value of each second that the buffer lasts after the last planned segment, at most the last share of mu. Default 0. */
  bufferValuePerSecond?: number;
  /** Shares that the segments count by; never ascending. Default: 1. */
  watchShares?: readonly number[];
}

export interface Plan {
  representation: number;
  /**
   * The terms of QoE summed over the planned segments, by their shares and not yet divided by their media, and the value
   * of the buffer after them; -Infinity if no plan ends.
   */
  value: number;
  /** What `value` has of the buffer's. */
  bufferValue: number;
  /** Stall seconds of that plan, startup included. */
  stallSeconds: number;
  segments: number;
}

/** A plan up to some segment. */
interface PartialPlan {
  /** Index of its first representation; -1: no segment is planned yet. */
  first: number;
  /** The terms of QoE of its segments, less `tieMargin` for each representation below its first. */
  value: number;
  stallSeconds: number;
  /** When its last download ends. */
  timeSeconds: number;
  /** How long the buffer lasts then. */
  bufferSeconds: number;
}

const NO_PLAN: PartialPlan = {
  first: 0,
  value: Number.NEGATIVE_INFINITY,
  stallSeconds: Number.POSITIVE_INFINITY,
  timeSeconds: 0,
  bufferSeconds: 0,
};

/**
 * The best plan of a state on a path whose second 0 is the state's now. If all plans have a download that never ends,
 * it is the lowest representation with the value -Infinity.
 */
export function bestPlan(state: PlayerState, path: CapacityPath, options: PlanOptions): Plan {
  return new PlanSearch(state, path, options).best();
}

class PlanSearch {
  private readonly _state: PlayerState;
  private readonly _path: CapacityPath;
  private readonly _options: PlanOptions;
  private readonly _segments: number;
  /** How long a segment plays, and the most that the buffer may hold at a request, in seconds of the clock. */
  private readonly _playSeconds: number;
  private readonly _roomSeconds: number;
  /** `[k][representation]` */
  private readonly _sizesBits: (readonly number[])[];
  private readonly _qualities: (readonly number[])[];
  /** Cost of the switch from the previous segment to each representation. */
  private readonly _switchCosts: readonly number[];
  private readonly _tieMargin: number;
  /** `[k][last]`: the most that the segments after segment k, of representation `last`, can add. */
  private readonly _bounds: number[][];
  private readonly _firsts: readonly number[];

  constructor(state: PlayerState, path: CapacityPath, options: PlanOptions) {
    const { ladderBps, segmentSeconds, playbackRate } = state;
    this._state = state;
    this._path = path;
    this._options = options;
    this._segments = Math.max(1, Math.min(options.horizon, Math.floor(state.segmentsRemaining) || 1));
    this._playSeconds = segmentSeconds / playbackRate;
    this._roomSeconds = options.bufferCap
      ? Math.max(0, state.bufferCapSeconds - segmentSeconds) / playbackRate
      : Number.POSITIVE_INFINITY;
    this._sizesBits = Array.from({ length: this._segments }, (_, k) => sizesAt(state, k));
    this._qualities = Array.from({ length: this._segments }, (_, k) => qualitiesAt(state, k));
    this._switchCosts = switchCosts(state);
    this._tieMargin = TIE_TOLERANCE * Math.max(...this._qualities.map((row) => Math.max(...row.map(Math.abs))));
    this._bounds = [ladderBps.map(() => 0)];
    for (let k = this._segments - 1; k > 0; k--) {
      const after = this._bounds[0]!;
      this._bounds.unshift(
        ladderBps.map((_, last) => Math.max(...after.map((rest, r) => this._gain(k, last, r) + rest))),
      );
    }
    this._firsts = options.first === undefined ? [...ladderBps.keys()] : [options.first];
  }

  best(): Plan {
    const representations = this._state.ladderBps;
    const root: PartialPlan = {
      first: -1,
      value: 0,
      stallSeconds: 0,
      timeSeconds: 0,
      bufferSeconds: this._state.bufferLevelSeconds / this._state.playbackRate,
    };
    const leastValue = this._knownValue(root) - this._tieMargin / 2;
    /** Partial plans per last representation. */
    let plans: PartialPlan[][] = [[root]];
    for (let k = 0; k < this._segments; k++) {
      const extended: PartialPlan[][] = representations.map(() => []);
      for (const [last, candidates] of plans.entries()) {
        for (const candidate of candidates) {
          for (const next of k === 0 ? this._firsts : representations.keys()) {
            const plan = this._extend(candidate, k, last, next);
            const isPromising = plan.value + this._most(plan, k, next) >= leastValue;
            if (plan.timeSeconds < Number.POSITIVE_INFINITY && isPromising) extended[next]!.push(plan);
          }
        }
      }
      const left = this._segments - 1 - k;
      plans = extended.map((candidates) => this._undominated(candidates, left));
    }
    const score = (plan: PartialPlan) => plan.value + this._bufferValue(plan);
    const best = ([] as PartialPlan[]).concat(...plans).reduce((a, b) => (score(b) > score(a) ? b : a), NO_PLAN);
    return {
      representation: best.first,
      value: score(best) + best.first * this._tieMargin,
      bufferValue: this._bufferValue(best),
      stallSeconds: best.stallSeconds,
      segments: this._segments,
    };
  }

  private _bufferValue({ bufferSeconds }: Pick<PartialPlan, 'bufferSeconds'>): number {
    return (this._options.bufferValuePerSecond || 0) * bufferSeconds;
  }

  private _share(k: number): number {
    const { watchShares } = this._options;
    return watchShares ? watchShares[k]! : 1;
  }

  /** The most that the segments after segment k, of representation `last`, and the buffer after them can add. */
  private _most({ bufferSeconds }: PartialPlan, k: number, last: number): number {
    const addedSeconds = (this._segments - 1 - k) * this._playSeconds;
    const mostSeconds = Math.min(bufferSeconds + addedSeconds, this._roomSeconds + this._playSeconds);
    return this._bounds[k]![last]! + this._bufferValue({ bufferSeconds: Math.max(bufferSeconds, mostSeconds) });
  }

  /** What a segment adds to the value if it does not stall. */
  private _gain(k: number, last: number, next: number): number {
    const { weights, segmentSeconds } = this._state;
    const quality = this._qualities[k]!;
    const cost = k === 0 ? this._switchCosts[next]! : changeCost(weights, quality[last]!, quality[next]!);
    return this._share(k) * ((quality[next]! * segmentSeconds) / QOE_UNIT_SECONDS - cost);
  }

  private _extend(plan: PartialPlan, k: number, last: number, next: number): PartialPlan {
    const { started, isPaused, weights } = this._state;
    const plays = k > 0 || (started && !isPaused);
    const waitSeconds = plays ? Math.max(0, plan.bufferSeconds - this._roomSeconds) : 0;
    const bufferSeconds = plan.bufferSeconds - waitSeconds;
    const requestSeconds = plan.timeSeconds + waitSeconds;
    const downloadSeconds = this._path.downloadSeconds(requestSeconds, this._sizesBits[k]![next]!);
    const playedSeconds = plays ? Math.min(downloadSeconds, bufferSeconds) : 0;
    const stallSeconds = k === 0 && isPaused ? 0 : downloadSeconds - playedSeconds;
    const tieCost = k === 0 ? next * this._tieMargin : 0;
    const cost = k > 0 || started ? stallCost(weights, stallSeconds) : weights.mu * stallSeconds;
    return {
      first: k === 0 ? next : plan.first,
      value: plan.value + this._gain(k, last, next) - this._share(k) * cost - tieCost,
      stallSeconds: plan.stallSeconds + stallSeconds,
      timeSeconds: requestSeconds + downloadSeconds,
      bufferSeconds: bufferSeconds - playedSeconds + this._playSeconds,
    };
  }

  /** The best value of plans that change the representation once at most, after the first segment. */
  private _knownValue(root: PartialPlan): number {
    let knownValue = Number.NEGATIVE_INFINITY;
    for (const first of this._firsts) {
      const begun = this._extend(root, 0, -1, first);
      for (const rest of this._state.ladderBps.keys()) {
        let plan = begun;
        for (let k = 1; k < this._segments; k++) plan = this._extend(plan, k, k === 1 ? first : rest, rest);
        if (plan.timeSeconds < Number.POSITIVE_INFINITY) {
          knownValue = Math.max(knownValue, plan.value + this._bufferValue(plan));
        }
      }
    }
    return knownValue;
  }

  /** The partial plans that no other dominates, with `left` segments to come. */
  private _undominated(plans: PartialPlan[], left: number): PartialPlan[] {
    const kept: PartialPlan[] = [];
    /** Plans in `kept` that no later plan dominates. */
    let front: PartialPlan[] = [];
    for (const plan of plans.sort((a, b) => a.timeSeconds - b.timeSeconds || b.value - a.value)) {
      if (front.some((earlier) => this._dominates(earlier, plan, left))) continue;
      front = front.filter((earlier) => !this._dominates(plan, earlier, left));
      front.push(plan);
      kept.push(plan);
    }
    return kept;
  }

  /** Whether every continuation of `a` is worth at least as much as the same one of `b`, if `a` is no later. */
  private _dominates(a: PartialPlan, b: PartialPlan, left: number): boolean {
    const { mu, stall = 0 } = this._state.weights;
    const aheadSeconds = a.timeSeconds + a.bufferSeconds - (b.timeSeconds + b.bufferSeconds);
    // A buffer that plays longer has to wait for room below the cap, and the path may be worse after that.
    if (aheadSeconds > 0 && this._options.bufferCap) return false;
    const behindSeconds = Math.max(0, -aheadSeconds);
    return a.value - mu * behindSeconds - stall * Math.min(left, behindSeconds) >= b.value;
  }
}
