/** The segment to decide on in every future: its download, its stall, and the value of the later segments. */

import type { CandidateOutlook, InFlight, PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS, type StallPrices, stallCost } from '../qoe/qoe.ts';
import {
  bufferedSecondValue,
  horizonOf,
  qualitiesAt,
  recentLatencySeconds,
  secondsAt,
  sizesAt,
  switchCosts,
  watchShares,
  worthsAt,
} from '../state/facts.ts';
import type { CapacityRanks, ForecastSteps, Futures, TailWeight } from './futures.ts';
import { REACTION_SEGMENTS, type ResolvedMpcLOptions } from './options.ts';
import { type LaterSegment, OUTAGE_SECONDS, ValueFunction, type ValueProblem } from './value-function.ts';

/** A download is late if it ends less than this before a stall, because a replacement also needs its round trips. */
const LATE_MARGIN_SECONDS = 0.2;
/** Unless a running download is late in this share of the futures, it is kept without an evaluation. */
const LATE_SHARE = 0.1;

/** A download to evaluate: a new request, or the rest of a running one. */
export interface PlannedRequest {
  representation: number;
  bits: number;
  /** Seconds until its first bit; 0 while bits arrive. */
  latencySeconds: number;
}

export interface Evaluation {
  /**
   * MPC-L chooses the highest score: QoE from this segment to the horizon, plus the value of the buffer after the
   * horizon, where stalls and bad futures have extra weight (`risk`). Only scores of one state are comparable.
   */
  score: number;
  /** Expected QoE of this segment alone, per 4 s of media (`CandidateOutlook`). */
  qoe: number;
  /** Expected seconds that playback waits for this segment. */
  stallSeconds: number;
  /** What later segments and the aversion to risk add to `qoe`, in the same unit. */
  laterQoe: number;
}

/** What requests for a segment lead to in one state: on demand, or at the live edge (live/live-outcomes.ts). */
export interface Outcomes<R extends PlannedRequest = PlannedRequest> {
  /** A request for the whole segment, sent now. `instead`: the running download that it replaces. */
  newRequest(representation: number, instead?: R): R;
  /** The rest of the download in flight. */
  running(inFlight: InFlight, representation: number): R;
  /** Whether the download in flight is likely to be late, so that replacements are worth an evaluation. */
  isLate(running: R): boolean;
  evaluate(request: R): Evaluation;
}

/** Evaluates a request of each representation. `best` has the highest score below `ceilingBps`; the lowest of equals wins. */
export function evaluateAll({ ladderBps }: PlayerState, outcomes: Outcomes, ceilingBps = Number.POSITIVE_INFINITY) {
  const evaluations = ladderBps.map((_, r) => outcomes.evaluate(outcomes.newRequest(r)));
  let best = 0;
  for (let r = 1; r < ladderBps.length; r++) {
    if (ladderBps[r]! < ceilingBps && evaluations[r]!.score > evaluations[best]!.score) best = r;
  }
  const candidates = evaluations.map(({ qoe, stallSeconds }, r): CandidateOutlook => {
    return { bitrateBps: ladderBps[r]!, expectedQoe: qoe, expectedStallSeconds: stallSeconds };
  });
  return { best, evaluations, candidates };
}

export function describeEvaluation({ qoe, stallSeconds }: Evaluation): string {
  return `QoE ${qoe.toFixed(2)} per 4 s, stall ${stallSeconds.toFixed(2)} s`;
}

/** Describes what another request would have changed. The sum of both numbers is below 0 if the choice was free. */
export function describeChange(from: Evaluation, to: Evaluation): string {
  const change = (key: 'qoe' | 'laterQoe') =>
    `${to[key] < from[key] ? '-' : '+'}${Math.abs(to[key] - from[key]).toFixed(2)}`;
  return `${change('qoe')} in this segment, ${change('laterQoe')} in later ones and by risk`;
}

export class SegmentOutcomes implements Outcomes {
  /** Solved at the first evaluation. */
  private _later: ValueFunction | undefined;
  private readonly _latencySeconds: number;
  private readonly _sizesBits: readonly number[];
  /** Per representation: seconds of the clock that a new request adds to the buffer. */
  private readonly _addedSeconds: readonly number[];
  /** Per representation: QoE of the segment without a stall. */
  private readonly _gains: readonly number[];
  private readonly _stallCosts: StallPrices;
  /** Seconds of the clock that the segment plays, and until the element stalls, which is never while paused. */
  private readonly _segmentSeconds: number;
  private readonly _playableSeconds: number;
  /** Seconds after a request at which the plan abandons a download that would stall. */
  private readonly _reactionSeconds: number;

  constructor(
    private readonly _state: PlayerState,
    private readonly _options: ResolvedMpcLOptions,
    private readonly _futures: Futures,
    private readonly _ranks: CapacityRanks,
  ) {
    const { playbackRate, bufferLevelSeconds, isPaused, started } = _state;
    const { patienceSegments, stallLevelSeconds } = _options.tuning;
    const seconds = secondsAt(_state, 0);
    const playable = Math.max(0, bufferLevelSeconds - stallLevelSeconds) / playbackRate;
    this._latencySeconds = recentLatencySeconds(_state);
    // Shorter segments need part of the next one, too.
    const next = _state.nextSeconds || _state.ladderBps.map(() => seconds);
    const missingBits = (r: number) => Math.max(0, seconds - next[r]!) * _state.ladderBps[r]!;
    this._sizesBits = sizesAt(_state, 0).map((bits, r) => bits + missingBits(r));
    this._addedSeconds = next.map((one) => Math.max(one, seconds) / playbackRate);
    const switches = switchCosts(_state);
    this._gains = worthsAt(_state, 0).map((worth, r) => (seconds / QOE_UNIT_SECONDS) * worth - switches[r]!);
    this._stallCosts = stallCostsOf(_state, _options);
    this._segmentSeconds = seconds / playbackRate;
    this._playableSeconds = isPaused ? Number.POSITIVE_INFINITY : started ? playable : 0;
    const impatientSeconds = this._playableSeconds - patienceSegments * this._segmentSeconds;
    const reactionSeconds = Math.max(REACTION_SEGMENTS * this._segmentSeconds, impatientSeconds);
    this._reactionSeconds = _options.abandon ? reactionSeconds : Number.POSITIVE_INFINITY;
  }

  newRequest(representation: number): PlannedRequest {
    const { setupSeconds = [] } = this._state;
    const latencySeconds = this._latencySeconds + (setupSeconds[representation] || 0);
    return { representation, bits: this._sizesBits[representation]!, latencySeconds };
  }

  running({ sizeBits, receivedBits, firstByteAtSeconds }: InFlight, representation: number): PlannedRequest {
    const bits = Math.max(0, sizeBits - receivedBits);
    return { representation, bits, latencySeconds: firstByteAtSeconds === undefined ? this._latencySeconds : 0 };
  }

  isLate({ bits }: PlannedRequest): boolean {
    const futures = this._futures;
    const dueSeconds = this._playableSeconds - LATE_MARGIN_SECONDS;
    let late = 0;
    for (let f = 0; f < futures.count; f++) if (futures.transferSeconds(f, 0, bits) > dueSeconds) late++;
    return late > LATE_SHARE * futures.count;
  }

  /** Plays the download of a request in every future. As `reconsider` would, a future may abandon it before a stall. */
  evaluate({ representation, bits, latencySeconds }: PlannedRequest): Evaluation {
    const futures = this._futures;
    this._later ||= new ValueFunction(
      laterSegments(this._state, this._options, futures.steps, this._ranks, this._latencySeconds),
    );
    const scores: number[] = [];
    let qoeSum = 0;
    let stallSum = 0;
    for (let f = 0; f < futures.count; f++) {
      const seconds = latencySeconds + futures.transferSeconds(f, latencySeconds, bits);
      let played = this._play(f, representation, seconds);
      // A lower representation that arrives sooner replaces the download if it scores higher.
      if (seconds > this._reactionSeconds && seconds > this._playableSeconds) {
        for (let lower = 0; lower < representation; lower++) {
          const request = this.newRequest(lower);
          const sentAt = this._reactionSeconds + request.latencySeconds;
          const replaced = sentAt + futures.transferSeconds(f, sentAt, request.bits);
          if (replaced >= seconds) continue;
          const other = this._play(f, lower, replaced);
          if (other.score > played.score) played = other;
        }
      }
      scores.push(played.score);
      qoeSum += played.qoe;
      stallSum += played.stallSeconds;
    }
    const units = futures.count * (secondsAt(this._state, 0) / QOE_UNIT_SECONDS);
    const score = this._meanWithTail(scores);
    const qoe = qoeSum / units;
    return { score, qoe, stallSeconds: stallSum / futures.count, laterQoe: (score * futures.count) / units - qoe };
  }

  /** One future in which the segment arrives after `seconds`. Its QoE is not per 4 s. */
  private _play(future: number, representation: number, seconds: number): Omit<Evaluation, 'laterQoe'> {
    const { isPaused, bufferLevelSeconds, playbackRate, weights } = this._state;
    const playable = this._playableSeconds;
    const stallSeconds = Math.max(0, seconds - playable);
    const drained = isPaused ? 0 : Math.min(seconds, playable);
    const after = bufferLevelSeconds / playbackRate - drained + this._addedSeconds[representation]!;
    const gain = this._gains[representation]!;
    const later = this._later!.at(after, this._futures.binAt(future, seconds, this._ranks.bins), representation);
    const cost = this._waitCost(this._stallCosts, stallSeconds);
    return { score: gain - cost + later, qoe: gain - this._waitCost(weights, stallSeconds), stallSeconds };
  }

  private _waitCost(prices: StallPrices, seconds: number): number {
    return this._state.started ? stallCost(prices, seconds) : prices.mu * seconds;
  }

  /** Mean score of the futures, with extra weight for the worst futures. */
  private _meanWithTail(scores: number[]): number {
    const { weight, tail } = tailWeightOf(this._options);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    const mean = sum(scores) / scores.length;
    if (weight <= 0) return mean;
    const worst = Math.max(1, Math.round(tail * scores.length));
    const worstSum = sum(scores.sort((a, b) => a - b).slice(0, worst));
    return (1 - weight) * mean + (weight * worstSum) / worst;
  }
}

/* The segments after the segment to decide on, as a problem for the value function. */

/** At risk 1 a stall costs this many times mu more. */
const STALL_AVERSION = 4;
/** Share of the worst futures, and their extra weight at risk 1. */
const TAIL_SHARE = 0.2;
const TAIL_WEIGHT = 0.3;
/** Until this time the session prepares less for outages, by the 4th power, so that a new viewer sees a good picture. */
const PREPARED_SECONDS = 75;

export function tailWeightOf({ risk }: Pick<ResolvedMpcLOptions, 'risk'>): TailWeight {
  return { weight: TAIL_WEIGHT * risk, tail: TAIL_SHARE };
}

/** The objective's prices, raised by the aversion to risk. */
export function stallCostsOf({ weights }: PlayerState, { risk }: { risk: number }): Required<StallPrices> {
  const aversion = 1 + STALL_AVERSION * risk;
  return { mu: weights.mu * aversion, stall: (weights.stall || 0) * aversion };
}

/** The later segments as a problem. All its seconds are the clock's. */
export function laterSegments(
  state: PlayerState,
  options: ResolvedMpcLOptions,
  steps: ForecastSteps,
  ranks: CapacityRanks,
  latencySeconds: number,
): ValueProblem {
  const { tuning } = options;
  const { weights, playbackRate, segmentsRemaining } = state;
  const segmentSeconds = state.segmentSeconds / playbackRate;
  const decidedSeconds = secondsAt(state, 0) / playbackRate;
  const count = Math.max(0, Math.min(horizonOf(state, options), segmentsRemaining) - 1);
  const { bins } = ranks;
  const stepEndsSeconds = steps.endsFromNow();
  const capacityBps = ranks.capacityBps(steps);
  const lastCapacity = [...capacityBps.subarray((stepEndsSeconds.length - 1) * bins, stepEndsSeconds.length * bins)];
  const shares = watchShares(state, count + 1, options.watchSeconds);
  const lastQualities = qualitiesAt(state, count + 1);
  const lastWorths = worthsAt(state, count + 1);
  const costs = { ...weights, ...stallCostsOf(state, options) };
  const outagesPerSecond = tuning.outagesPerSecond * Math.min(1, (state.nowSeconds / PREPARED_SECONDS) ** 4);
  const isEnd = segmentsRemaining <= count + 1;
  let endSeconds = decidedSeconds;
  const stages = Array.from({ length: count }, (_, i): LaterSegment => {
    const mediaSeconds = secondsAt(state, i + 1);
    const transitions = ranks.transitions(
      steps.correlationBetween(endSeconds - secondsAt(state, i) / playbackRate, endSeconds),
    );
    endSeconds += mediaSeconds / playbackRate;
    return {
      seconds: mediaSeconds / playbackRate,
      qualityScale: mediaSeconds / QOE_UNIT_SECONDS,
      transitions,
      sizesBits: sizesAt(state, i + 1),
      // Without qualities or prices of their own, all segments share the last ones.
      qualities: state.upcomingQualities ? qualitiesAt(state, i + 1) : lastQualities,
      worths: state.upcomingQualities || weights.pricePerMbps ? worthsAt(state, i + 1) : lastWorths,
      watchShare: shares[i + 1]! / shares[i]!,
    };
  });
  return {
    bins,
    stepEndsSeconds,
    capacityBps,
    bufferLevelSeconds: state.bufferLevelSeconds / playbackRate,
    count: state.ladderBps.length,
    stages,
    bufferValuePerSecond: lastCapacity.map((bps) =>
      isEnd ? 0 : (shares[count + 1]! / shares[count]!) * bufferedSecondValue(state, lastWorths, bps),
    ),
    costs,
    outageCostPerSecond: outagesPerSecond * (weights.outage ?? stallCost(costs, OUTAGE_SECONDS)),
    segmentSeconds,
    bufferCapSeconds: state.bufferCapSeconds / playbackRate,
    latencySeconds,
    stallLevelSeconds: tuning.stallLevelSeconds / playbackRate,
    reactionSeconds: options.abandon ? REACTION_SEGMENTS * segmentSeconds : Number.POSITIVE_INFINITY,
    patienceSeconds: tuning.patienceSegments * segmentSeconds,
    // After the segment to decide on, the buffer has this segment and the rest of the present buffer.
    leastLevelSeconds: Math.min(decidedSeconds, ...stages.map(({ seconds }) => seconds)),
    decidedSeconds,
    mostLevelSeconds: state.bufferLevelSeconds / playbackRate + decidedSeconds,
  };
}
