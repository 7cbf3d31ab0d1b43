/**
 * The exact finite-horizon planner of MPC-D and MPC-O on one capacity path. It maximises the terms of the session's QoE
 * (qoe.ts) over the next n segments,
 *
 *   sum q(R_k) * segmentSeconds/4  -  mu * sum stall_k  -  stall * begins  -  lambda * falls of q  -  rise * rises of q
 *
 * A plan runs on the clock: at rate 2 a segment of 4 s plays for 2 s. With t the time, B the buffer, d the download
 * time on the path, and room the most that the buffer may hold when a request leaves (infinite if the plan ignores the
 * cap):
 *
 *   wait = max(0, B - room),  stall = max(0, d - (B - wait)),  t += wait + d,  B = max(0, B - wait - d) + segment
 *
 * Before the first picture nothing plays, so the first download costs mu per second. While the player is paused, the
 * first download costs nothing.
 *
 * The search extends partial plans segment by segment and drops a plan in two cases. *Bound*: even without any further
 * stall the plan would be worth less than a known plan. *Dominance*: another plan with the same last representation is
 * as early, and each of its continuations is worth at least as much. Links are first in, first out, so an earlier
 * request never arrives later. The same continuation stalls longer by at most the difference of t + B, and at most one
 * stall per segment has a dearer begin.
 *
 * Among equal plans the lowest first representation wins, as in Pensieve's artifact, which keeps the first best plan in
 * lexicographic order. Values are equal within `TIE_TOLERANCE` of the largest |q|, so that rounding does not decide.
 */

import type { PlayerState } from '../controller.ts';
import { changeCost, QOE_UNIT_SECONDS, RISE_SECONDS, stallCost } from '../qoe/qoe.ts';
import { qualitiesAt, sizesAt, switchCosts, worthsAt } from '../state/facts.ts';
import type { CapacityPath } from './capacity-path.ts';

/** Plans whose values differ by less than this share of the largest |q| are equal. */
export const TIE_TOLERANCE = 1e-9;

export interface PlanOptions {
  /** Planned segments, at least 1. A plan ends with the stream. */
  horizon: number;
  /** Whether the plan knows the state's buffer cap. Default false, as in the textbook. */
  bufferCap?: boolean | undefined;
  /** The first representation. Default: any. */
  first?: number;
  /** Value of each second of buffer after the last planned segment; at most mu times the last watch share. Default 0. */
  bufferValuePerSecond?: number;
  /** Weights of the segments, never ascending. Default: 1. */
  watchShares?: readonly number[];
}

export interface Plan {
  representation: number;
  /** Weighted sum of the terms of QoE, not divided by the media, and `bufferValue`; -Infinity if no plan ends. */
  value: number;
  bufferValue: number;
  stallSeconds: number;
  segments: number;
}

interface PartialPlan {
  /** Index of the first representation; -1 before the first segment. */
  first: number;
  /** Terms of QoE of the segments, less `first` times `tieMargin`. */
  value: number;
  stallSeconds: number;
  /** End of the last download. */
  timeSeconds: number;
  /** Seconds of the clock that the buffer then lasts. */
  bufferSeconds: number;
}

const NO_PLAN: PartialPlan = {
  first: 0,
  value: Number.NEGATIVE_INFINITY,
  stallSeconds: Number.POSITIVE_INFINITY,
  timeSeconds: 0,
  bufferSeconds: 0,
};

/** The best plan on a path whose second 0 is now. If no plan ends, it is the lowest representation with value -Infinity. */
export function bestPlan(state: PlayerState, path: CapacityPath, options: PlanOptions): Plan {
  return new PlanSearch(state, path, options).best();
}

class PlanSearch {
  private readonly _segments: number;
  /** Duration of a segment, and the most that the buffer may hold at a request, in seconds of the clock. */
  private readonly _playSeconds: number;
  private readonly _roomSeconds: number;
  /** `[k][representation]` */
  private readonly _sizesBits: (readonly number[])[];
  private readonly _qualities: (readonly number[])[];
  private readonly _worths: (readonly number[])[];
  /** Cost of the switch from the previous segment to each representation. */
  private readonly _switchCosts: readonly number[];
  private readonly _tieMargin: number;
  /** `[k][last]`: the most that segments can add after segment k of representation `last`. */
  private readonly _bounds: number[][];
  private readonly _firsts: readonly number[];

  constructor(
    private readonly _state: PlayerState,
    private readonly _path: CapacityPath,
    private readonly _options: PlanOptions,
  ) {
    const { ladderBps, segmentSeconds, playbackRate } = _state;
    this._segments = Math.max(1, Math.min(_options.horizon, Math.floor(_state.segmentsRemaining) || 1));
    this._playSeconds = segmentSeconds / playbackRate;
    const roomSeconds = Math.max(0, _state.bufferCapSeconds - segmentSeconds) / playbackRate;
    this._roomSeconds = _options.bufferCap ? roomSeconds : Number.POSITIVE_INFINITY;
    this._sizesBits = Array.from({ length: this._segments }, (_, k) => sizesAt(_state, k));
    this._qualities = Array.from({ length: this._segments }, (_, k) => qualitiesAt(_state, k));
    this._worths = Array.from({ length: this._segments }, (_, k) => worthsAt(_state, k));
    this._switchCosts = switchCosts(_state);
    this._tieMargin = TIE_TOLERANCE * Math.max(...this._qualities.map((row) => Math.max(...row.map(Math.abs))));
    this._bounds = [ladderBps.map(() => 0)];
    for (let k = this._segments - 1; k > 0; k--) {
      const after = this._bounds[0]!;
      this._bounds.unshift(
        ladderBps.map((_, last) => Math.max(...after.map((rest, r) => this._gain(k, last, r) + rest))),
      );
    }
    this._firsts = _options.first === undefined ? [...ladderBps.keys()] : [_options.first];
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

  /** The most that segments after segment k of representation `last`, and the buffer after them, can add. */
  private _most({ bufferSeconds }: PartialPlan, k: number, last: number): number {
    const addedSeconds = (this._segments - 1 - k) * this._playSeconds;
    const mostSeconds = Math.min(bufferSeconds + addedSeconds, this._roomSeconds + this._playSeconds);
    return this._bounds[k]![last]! + this._bufferValue({ bufferSeconds: Math.max(bufferSeconds, mostSeconds) });
  }

  /** Value of a segment that does not stall. */
  private _gain(k: number, last: number, next: number): number {
    const { weights, segmentSeconds } = this._state;
    const quality = this._qualities[k]!;
    const cost = k === 0 ? this._switchCosts[next]! : changeCost(weights, quality[last]!, quality[next]!);
    return this._share(k) * ((this._worths[k]![next]! * segmentSeconds) / QOE_UNIT_SECONDS - cost);
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

  /** The best value of plans that change the representation at most once, after the first segment. */
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

  /** The partial plans that no other plan dominates, with `left` segments to come. */
  private _undominated(plans: PartialPlan[], left: number): PartialPlan[] {
    const kept: PartialPlan[] = [];
    /** Plans of `kept` that no later plan dominates. */
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
    // A longer buffer has to wait for room below the cap, and the path may be worse after the wait.
    if (aheadSeconds > 0 && this._options.bufferCap) return false;
    const behindSeconds = Math.max(0, -aheadSeconds);
    return a.value - mu * behindSeconds - stall * Math.min(left, behindSeconds / RISE_SECONDS) >= b.value;
  }
}
