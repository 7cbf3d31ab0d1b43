/**
 * The segment to decide on, in every future: its download, its stall, and the value of the later segments after it.
 * MPC-L compares requests by an internal score; it reports expectations in QoE and seconds.
 */

import type { InFlight, PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS, switchCost } from '../qoe.ts';
import { type Futures, sortBy } from './futures.ts';
import { sizesAt, stallCostOf, tailWeightOf } from './later-segments.ts';
import type { ResolvedMpcLOptions } from './options.ts';
import type { ValueFunction } from './value-function.ts';

/** A download to evaluate: a new request, or the rest of a running one. */
export interface Request {
  representation: number;
  bits: number;
  /** Seconds until its first bit; 0 while bits arrive. */
  latencySeconds: number;
}

export interface Evaluation {
  /**
   * MPC-L chooses the highest score: QoE from this segment to the horizon, plus the value of the buffer after it.
   * Stalls and bad futures count more than their share (`risk`). Scores have no unit; compare them within one state
   * only.
   */
  score: number;
  /** Expected QoE of this segment alone, per 4 s of media (`CandidateOutlook`). */
  qoe: number;
  /** Expected seconds that playback waits for this segment. */
  stallSeconds: number;
}

/** Seconds of the clock until the media element stalls: 0 before the first picture, Infinity while paused. */
export function playableSeconds(state: PlayerState, stallLevelSeconds: number): number {
  if (state.isPaused) return Number.POSITIVE_INFINITY;
  return state.started ? Math.max(0, state.bufferLevelSeconds - stallLevelSeconds) / state.playbackRate : 0;
}

/** What requests for a segment lead to, in one state. */
export interface Outcomes<R extends Request = Request> {
  /** A request for the whole segment. `instead`: of this running one. */
  newRequest(representation: number, instead?: R): R;
  /** The rest of the download in flight. */
  running(inFlight: InFlight, representation: number): R;
  evaluate(request: R): Evaluation;
}

/** Arrays of `SegmentOutcomes`, one set for many states: their allocation would cost as much as an evaluation. */
export class OutcomeMemory {
  /** Score of each future, and futures in its order; for one request. */
  readonly scores: Float64Array;
  readonly order: Uint16Array;
  /** `[future][representation]`: the replacement of an abandoned download; NaN until it was computed. */
  replacedSeconds = new Float64Array(0);
  replacedScores = new Float64Array(0);

  constructor(futureCount: number) {
    this.scores = new Float64Array(futureCount);
    this.order = Uint16Array.from(this.scores, (_, f) => f);
  }

  /** Begins a state. */
  forget(representations: number): void {
    const size = this.scores.length * representations;
    if (size !== this.replacedScores.length) {
      this.replacedSeconds = new Float64Array(size);
      this.replacedScores = new Float64Array(size);
    }
    this.replacedSeconds.fill(Number.NaN);
  }
}

/** One state, its futures and the solved value function; `evaluate` answers for any number of requests. */
export class SegmentOutcomes implements Outcomes {
  readonly #state: PlayerState;
  readonly #options: ResolvedMpcLOptions;
  readonly #futures: Futures;
  readonly #later: ValueFunction;
  readonly #latencySeconds: number;
  /** Per representation: QoE of the segment and cost of the switch to it; size in bits. */
  readonly #gains: number[];
  readonly #switchCosts: number[];
  readonly #sizesBits: readonly number[];
  readonly #stallCost: number;
  /** How long the buffer and the new segment play, and when the element stalls. */
  readonly #bufferSeconds: number;
  readonly #segmentSeconds: number;
  readonly #playableSeconds: number;
  /** Seconds after a request at which the plan abandons a download that is about to stall. */
  readonly #reactionSeconds: number;
  readonly #memory: OutcomeMemory;

  constructor(
    state: PlayerState,
    plan: {
      options: ResolvedMpcLOptions;
      futures: Futures;
      later: ValueFunction;
      latencySeconds: number;
      memory: OutcomeMemory;
    },
  ) {
    const { options, memory } = plan;
    const { tuning } = options;
    const { weights, ladderBps, playbackRate } = state;
    this.#state = state;
    this.#options = options;
    this.#futures = plan.futures;
    this.#memory = memory;
    memory.forget(ladderBps.length);
    this.#later = plan.later;
    this.#latencySeconds = plan.latencySeconds;
    const units = state.segmentSeconds / QOE_UNIT_SECONDS;
    this.#gains = ladderBps.map((bps) => units * weights.quality(bps));
    this.#switchCosts = ladderBps.map((bps) => switchCost(weights, state.previousBitrateBps, bps));
    this.#sizesBits = sizesAt(state, 0);
    this.#stallCost = stallCostOf(state, options);
    this.#bufferSeconds = state.bufferLevelSeconds / playbackRate;
    this.#segmentSeconds = state.segmentSeconds / playbackRate;
    this.#playableSeconds = playableSeconds(state, tuning.stallLevelSeconds);
    this.#reactionSeconds = options.abandon
      ? Math.max(
          tuning.reactionSegments * this.#segmentSeconds,
          this.#playableSeconds - tuning.patienceSegments * this.#segmentSeconds,
        )
      : Number.POSITIVE_INFINITY;
  }

  /** A request for the whole segment, sent now. */
  newRequest(representation: number): Request {
    return { representation, bits: this.#sizesBits[representation]!, latencySeconds: this.#newLatency(representation) };
  }

  #newLatency(representation: number): number {
    return this.#latencySeconds + (this.#state.setupSeconds?.[representation] ?? 0);
  }

  running({ sizeBits, receivedBits, firstByteAtSeconds }: InFlight, representation: number): Request {
    const bits = Math.max(0, sizeBits - receivedBits);
    return { representation, bits, latencySeconds: firstByteAtSeconds === undefined ? this.#latencySeconds : 0 };
  }

  /**
   * Scores a request: plays its download in every future, and takes the mean of the scores, with the extra weight of
   * the tail. As `reconsider` would, a future may abandon a download that is about to stall.
   */
  evaluate({ representation, bits, latencySeconds }: Request): Evaluation {
    const futures = this.#futures;
    const { scores, replacedSeconds, replacedScores } = this.#memory;
    const playable = this.#playableSeconds;
    const reaction = this.#reactionSeconds;
    let qoeSum = 0;
    let stallSum = 0;
    for (let f = 0; f < futures.count; f++) {
      const seconds = latencySeconds + futures.transferSeconds(f, latencySeconds, bits);
      let played = representation;
      let score = this.#score(f, representation, seconds);
      let stall = Math.max(0, seconds - playable);
      // Abandon it for a lower representation that arrives sooner, if that scores higher.
      if (seconds > reaction && seconds > playable) {
        for (let lower = 0; lower < representation; lower++) {
          const at = f * this.#gains.length + lower;
          if (Number.isNaN(replacedSeconds[at]!)) this.#replace(f, lower, at);
          const replaced = replacedSeconds[at]!;
          if (replaced >= seconds) continue;
          const other = replacedScores[at]!;
          if (other > score) {
            score = other;
            played = lower;
            stall = Math.max(0, replaced - playable);
          }
        }
      }
      scores[f] = score;
      qoeSum += this.#gains[played]! - this.#switchCosts[played]! - this.#state.weights.mu * stall;
      stallSum += stall;
    }
    const units = futures.count * (this.#state.segmentSeconds / QOE_UNIT_SECONDS);
    return { score: this.#meanWithTail(), qoe: qoeSum / units, stallSeconds: stallSum / futures.count };
  }

  /** Plays the replacement of an abandoned download in one future, which is the same for all requests. */
  #replace(future: number, representation: number, at: number): void {
    const sentAt = this.#reactionSeconds + this.#newLatency(representation);
    const seconds = sentAt + this.#futures.transferSeconds(future, sentAt, this.#sizesBits[representation]!);
    this.#memory.replacedSeconds[at] = seconds;
    this.#memory.replacedScores[at] = this.#score(future, representation, seconds);
  }

  /** Score of one future in which the segment arrives after `seconds`. */
  #score(future: number, representation: number, seconds: number): number {
    const playable = this.#playableSeconds;
    const stall = Math.max(0, seconds - playable);
    const drained = this.#state.isPaused ? 0 : Math.min(seconds, playable);
    const after = this.#bufferSeconds - drained + this.#segmentSeconds;
    return (
      this.#gains[representation]! -
      this.#switchCosts[representation]! -
      this.#stallCost * stall +
      this.#later.at(after, this.#futures.binAt(future, seconds), representation)
    );
  }

  /** Mean of the futures' scores, in which the worst `tailShare` of them has extra weight. */
  #meanWithTail(): number {
    const { scores, order } = this.#memory;
    const tailWeight = tailWeightOf(this.#options);
    let sum = 0;
    for (let f = 0; f < scores.length; f++) sum += scores[f]!;
    const mean = sum / scores.length;
    if (tailWeight <= 0) return mean;
    sortBy(order, scores);
    const worst = Math.max(1, Math.round(this.#options.tuning.tailShare * scores.length));
    let tail = 0;
    for (let i = 0; i < worst; i++) tail += scores[order[i]!]!;
    return (1 - tailWeight) * mean + (tailWeight * tail) / worst;
  }
}
