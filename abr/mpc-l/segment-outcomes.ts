/**
 * The segment to decide on, in every future: its download, its stall, and the value of the later segments after it.
 * MPC-L compares requests by an internal score; it reports expectations in QoE and seconds.
 */

import type { InFlight, PlayerState } from '../controller.ts';
import { ageSecondsOf, type Forecast } from '../forecast.ts';
import { sizesAt } from '../ladder.ts';
import { QOE_UNIT_SECONDS, switchCost } from '../qoe.ts';
import { recentLatencySeconds } from '../request-latency.ts';
import { Futures } from './futures.ts';
import { LaterSegments, stallCostOf, tailWeightOf } from './later-segments.ts';
import type { ResolvedMpcLOptions } from './options.ts';
import { ValueFunction } from './value-function.ts';

/** A download is late if it ends less than this before a stall, because a replacement needs its round trips, too. */
const LATE_MARGIN_SECONDS = 0.2;

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

/** Plans a segment: on demand by `SegmentPlan`, at the live edge by `live/live-mpc-l.ts`. */
export interface Plan {
  /** Draws futures from the forecast; the outcomes hold until the next call. */
  outcomes(state: PlayerState, forecast: Forecast): Outcomes;
}

/** What requests for a segment lead to, in one state. */
export interface Outcomes<R extends Request = Request> {
  /** A request for the whole segment. `instead`: of this running one. */
  newRequest(representation: number, instead?: R): R;
  /** The rest of the download in flight. */
  running(inFlight: InFlight, representation: number): R;
  /** Whether the rest of the download in flight is likely to be late, so that others are worth an evaluation. */
  isLate(running: R): boolean;
  evaluate(request: R): Evaluation;
}

export class SegmentPlan implements Plan {
  readonly #options: ResolvedMpcLOptions;
  readonly #futures: Futures;
  readonly #laterSegments: LaterSegments;
  readonly #valueFunction = new ValueFunction();

  constructor(options: ResolvedMpcLOptions) {
    const { tuning, seed } = options;
    this.#options = options;
    this.#futures = new Futures(tuning.futures, tuning.bins, seed);
    this.#laterSegments = new LaterSegments(options);
  }

  outcomes(state: PlayerState, forecast: Forecast): SegmentOutcomes {
    const futures = this.#futures;
    futures.draw(forecast, ageSecondsOf(forecast, state.nowSeconds));
    return new SegmentOutcomes(state, this.#options, futures, (latencySeconds) => {
      this.#valueFunction.solve(this.#laterSegments.problem(state, futures, latencySeconds));
      return this.#valueFunction;
    });
  }
}

/** One state and its futures; `evaluate` answers for any number of requests. */
export class SegmentOutcomes implements Outcomes {
  readonly #state: PlayerState;
  readonly #options: ResolvedMpcLOptions;
  readonly #futures: Futures;
  readonly #solve: (latencySeconds: number) => ValueFunction;
  readonly #latencySeconds: number;
  /** From the first evaluation on: the solved value function; QoE of the segment and cost of the switch, per choice. */
  #later: ValueFunction | undefined;
  #gains: readonly number[] = [];
  #switchCosts: readonly number[] = [];
  /** Size of each representation in bits. */
  readonly #sizesBits: readonly number[];
  readonly #stallCost: number;
  /** How long the buffer and the new segment play, and when the element stalls. */
  readonly #bufferSeconds: number;
  readonly #segmentSeconds: number;
  readonly #playableSeconds: number;
  /** Seconds after a request at which the plan abandons a download that is about to stall. */
  readonly #reactionSeconds: number;
  /** Score of each future; one array for all requests. No typed array, because those are slow to allocate. */
  readonly #scores: number[] = [];

  /** `solve` values the later segments, for requests of this latency. */
  constructor(
    state: PlayerState,
    options: ResolvedMpcLOptions,
    futures: Futures,
    solve: (latencySeconds: number) => ValueFunction,
  ) {
    const { tuning } = options;
    const { playbackRate } = state;
    this.#state = state;
    this.#options = options;
    this.#futures = futures;
    this.#solve = solve;
    this.#latencySeconds = recentLatencySeconds(state);
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

  /** Whether it is late in more than `lateShare` of the futures. */
  isLate({ bits }: Request): boolean {
    const futures = this.#futures;
    const dueSeconds = this.#playableSeconds - LATE_MARGIN_SECONDS;
    let late = 0;
    for (let f = 0; f < futures.count; f++) if (futures.transferSeconds(f, 0, bits) > dueSeconds) late++;
    return late > this.#options.tuning.lateShare * futures.count;
  }

  /**
   * Scores a request: plays its download in every future, and takes the mean of the scores, with the extra weight of
   * the tail. As `reconsider` would, a future may abandon a download that is about to stall.
   */
  evaluate({ representation, bits, latencySeconds }: Request): Evaluation {
    if (this.#later === undefined) this.#prepare();
    const futures = this.#futures;
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
          const sentAt = reaction + this.#newLatency(lower);
          const replaced = sentAt + futures.transferSeconds(f, sentAt, this.#sizesBits[lower]!);
          if (replaced >= seconds) continue;
          const other = this.#score(f, lower, replaced);
          if (other > score) {
            score = other;
            played = lower;
            stall = Math.max(0, replaced - playable);
          }
        }
      }
      this.#scores[f] = score;
      qoeSum += this.#gains[played]! - this.#switchCosts[played]! - this.#state.weights.mu * stall;
      stallSum += stall;
    }
    const units = futures.count * (this.#state.segmentSeconds / QOE_UNIT_SECONDS);
    return { score: this.#meanWithTail(), qoe: qoeSum / units, stallSeconds: stallSum / futures.count };
  }

  #prepare(): void {
    const { ladderBps, weights, segmentSeconds, previousBitrateBps } = this.#state;
    const units = segmentSeconds / QOE_UNIT_SECONDS;
    this.#gains = ladderBps.map((bps) => units * weights.quality(bps));
    this.#switchCosts = ladderBps.map((bps) => switchCost(weights, previousBitrateBps, bps));
    this.#later = this.#solve(this.#latencySeconds);
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
      this.#later!.at(after, this.#futures.binAt(future, seconds), representation)
    );
  }

  /** Mean of the futures' scores, in which the worst `tailShare` of them has extra weight. */
  #meanWithTail(): number {
    const scores = this.#scores;
    const tailWeight = tailWeightOf(this.#options);
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    if (tailWeight <= 0) return mean;
    sort(scores);
    const worst = Math.max(1, Math.round(this.#options.tuning.tailShare * scores.length));
    const tail = scores.slice(0, worst).reduce((sum, score) => sum + score, 0);
    return (1 - tailWeight) * mean + (tailWeight * tail) / worst;
  }
}

/** Ascending, by insertion, because the futures are nearly in that order. */
function sort(values: number[]): void {
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    let place = i;
    for (; place > 0 && values[place - 1]! > value; place--) values[place] = values[place - 1]!;
    values[place] = value;
  }
}
