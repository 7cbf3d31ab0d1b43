/**
 * MPC-L is model-predictive control over a distribution of futures, with recourse. README.md has the data flow and an
 * example, docs/how-it-works.md the algorithm and its sources.
 */

import type { Controller, Decision, Download, InFlight, Pace, PlayerState } from '../controller.ts';
import { ageSecondsOf, type QuantileForecast, type ValidForecast } from '../forecast.ts';
import { createMpcD, type LivePlan } from '../mpc/mpc-d.ts';
import { horizonOf, lastIndexAtMost, qualitiesAt, sizesAt } from '../state/facts.ts';
import { nearestLevel } from '../statistics/distributions.ts';
import { CapacityRanks, Futures } from './futures.ts';
import type { ResolvedMpcLOptions } from './options.ts';
import {
  describeChange,
  describeEvaluation,
  type Evaluation,
  evaluateAll,
  type Outcomes,
  SegmentOutcomes,
  tailWeightOf,
} from './segment-outcomes.ts';
import { MOST_BINS } from './value-function.ts';

const MAX_ABANDONMENTS = 4;
/** No download is abandoned this soon after its request. MPC-D's rule has no forecast, so it waits longer. */
const SETTLE_SECONDS = 0.3;
/** A kept download is reconsidered after this share of the buffered time, at the live edge after `LIVE_KEPT_SECONDS`. */
const KEPT_SHARE = 0.2;
const LIVE_KEPT_SECONDS = 1;
const SLOWED_KEPT_SECONDS = 0.2;
/** On demand, a request without an answer for this long is sent again at the lowest bitrate. */
const HUNG_SECONDS = 8;
/** A download is reconsidered after this time at the latest, because the viewer may play faster meanwhile. */
const LONGEST_KEPT_SECONDS = 3;

/** The plan of live streams at their edge. */
export interface LivePart {
  /** MPC-D's plan, which decides without a usable forecast. */
  readonly fallback: LivePlan;
  /**
   * What requests lead to in the futures of a forecast, valid until the next call. `copies`: fluctuations per future, 1
   * or 2. Default 2.
   */
  outcomes(state: PlayerState, forecast: QuantileForecast, copies?: number): Outcomes;
  /** What a link that is slower than ever seen allows. */
  readonly slowed: {
    isSlowed(state: PlayerState, inFlight: InFlight): boolean;
    ceilingBps(state: PlayerState): number;
    replacement(state: PlayerState, inFlight: InFlight): number;
  };
  /** The pace; towards the target without a forecast. */
  pace(state: PlayerState, inFlight: InFlight | undefined, forecast: QuantileForecast | undefined): Pace;
}

export class MpcL implements Controller {
  readonly name: string;
  private readonly _options: ResolvedMpcLOptions;
  private readonly _futures: Futures;
  private readonly _ranks: CapacityRanks;
  private readonly _live: LivePart;
  private readonly _fallback: Controller;

  constructor(options: ResolvedMpcLOptions, live: LivePart) {
    const { name, abandon } = options;
    this.name = name;
    this._options = options;
    this._futures = new Futures(options.tuning.futures, options.seed);
    this._ranks = new CapacityRanks(MOST_BINS, tailWeightOf(options));
    this._live = live;
    this._fallback = createMpcD({ name, abandon, live: live.fallback });
  }

  /** Chooses the representation with the highest score over the futures; MPC-D's choice without a usable forecast. */
  decide(state: PlayerState, forecast?: ValidForecast): Decision {
    const usable = usableForecast(forecast, state);
    if (usable === undefined) {
      const decision = this._fallback.decide(state);
      const why = state.downloads.length > 0 ? 'no usable forecast, so mpc-d: ' : '';
      const reason = why + decision.reason;
      return { ...decision, controller: this.name, reason, ...this._keptPart(state, decision.representation) };
    }
    // Going back up right after an abandonment would cost two switches.
    const inTimeBps = state.live ? this._live.slowed.ceilingBps(state) : Number.POSITIVE_INFINITY;
    const ceilingBps = Math.min(abandonedBitrateBps(state), inTimeBps);
    const excluded = ceilingBps < inTimeBps ? 'was just abandoned' : 'would be late: the link is slower than ever seen';
    const { best, evaluations, candidates } = evaluateAll(state, this._outcomes(state, usable), ceilingBps);
    if (!Number.isFinite(evaluations[best]!.score)) {
      const { segmentSeconds, bufferLevelSeconds, bufferCapSeconds } = state;
      const buffer = `a buffer of ${bufferLevelSeconds} of ${bufferCapSeconds} s`;
      throw new Error(`no plan has a value: segments of ${segmentSeconds} s and ${sizesAt(state, 0)} bits, ${buffer}`);
    }
    const handover = this._loweredFor(state, usable, best);
    return {
      representation: best,
      controller: this.name,
      reason: `${usable.source}: ${handover}${reasonOf(state, evaluations, best, { ceilingBps, excluded })}`,
      ...this._forecastPart(state, usable),
      ...this._keptPart(state, best),
      candidates,
    };
  }

  /** Abandons a download that is likely to be late, if a lower bitrate scores higher by at least `abandonMargin`. */
  reconsider(state: PlayerState, inFlight: InFlight, forecast?: ValidForecast): Decision | 'keep' {
    const options = this._options;
    const { tuning } = options;
    if (state.isPaused || this._mustKeepSeconds(state, inFlight) > 0) return 'keep';
    const isSilent = inFlight.firstByteAtSeconds === undefined && !state.live;
    const isRunningOut = state.bufferLevelSeconds < state.segmentSeconds;
    if (isSilent && isRunningOut && state.nowSeconds - inFlight.requestedAtSeconds > HUNG_SECONDS) {
      return { representation: 0, controller: this.name, reason: 'no answer: lowest' };
    }
    const inTime = state.live ? this._live.slowed.replacement(state, inFlight) : -1;
    if (inTime >= 0) {
      const reason = `abandoned for ${megabits(state, inTime)}: the link is slower than ever seen`;
      return { representation: inTime, controller: this.name, reason, keepsForSeconds: SETTLE_SECONDS };
    }
    const current = lastIndexAtMost(state.ladderBps, inFlight.bitrateBps);
    const usable = usableForecast(forecast, state, inFlight);
    if (usable === undefined) {
      // An implausible forecast may have chosen the running download, so MPC-D's rule may abandon it.
      const answer = forecast && forecast.kind !== 'path' ? this._fallback.reconsider!(state, inFlight) : 'keep';
      return answer !== 'keep' && state.ladderBps[answer.representation]! < inFlight.bitrateBps ? answer : 'keep';
    }

    const outcomes = this._outcomes(state, usable, 1);
    const running = outcomes.running(inFlight, current);
    if (!outcomes.isLate(running)) return 'keep';
    const kept = outcomes.evaluate(running);
    const topQuality = qualitiesAt(state, 0)[state.ladderBps.length - 1]!;
    let best = { ...kept, score: kept.score + tuning.abandonMargin * topQuality };
    let lower = -1;
    // A representation with the bitrate in flight is no replacement.
    for (let r = 0; r < current && state.ladderBps[r]! < inFlight.bitrateBps; r++) {
      const evaluation = outcomes.evaluate(outcomes.newRequest(r, running));
      if (evaluation.score > best.score) [lower, best] = [r, evaluation];
    }
    if (lower < 0) return 'keep';
    return {
      representation: lower,
      controller: this.name,
      reason: `${usable.source}: abandoned for ${megabits(state, lower)}: ${comparison(best, 'going on', kept)}`,
      ...this._forecastPart(state, usable),
      keepsForSeconds: SETTLE_SECONDS,
    };
  }

  /** A share of the buffered time, because little changes meanwhile; a fixed time at the live edge. */
  keepsForSeconds(state: PlayerState, inFlight: InFlight): number {
    const isSlowed = state.live && this._live.slowed.isSlowed(state, inFlight);
    const liveSeconds = isSlowed ? SLOWED_KEPT_SECONDS : LIVE_KEPT_SECONDS;
    const keptSeconds = state.live ? liveSeconds : (KEPT_SHARE * state.bufferLevelSeconds) / state.playbackRate;
    return Math.max(Math.min(1, keptSeconds), this._mustKeepSeconds(state, inFlight));
  }

  pace(state: PlayerState, inFlight: InFlight | undefined, forecast?: ValidForecast): Pace {
    return this._live.pace(state, inFlight, usableForecast(forecast, state, inFlight));
  }

  private _keptPart(state: PlayerState, representation: number): Pick<Decision, 'keepsForSeconds'> {
    const { segmentIndex, nowSeconds: requestedAtSeconds, ladderBps } = state;
    const request = { segmentIndex, bitrateBps: ladderBps[representation]!, requestedAtSeconds, receivedBits: 0 };
    return { keepsForSeconds: this._mustKeepSeconds(state, { ...request, sizeBits: 0, abandonments: 0 }) };
  }

  /** Seconds for which the download is not abandoned, whatever the link does. */
  private _mustKeepSeconds(state: PlayerState, inFlight: InFlight): number {
    const { abandon, maxWastedShare, tuning } = this._options;
    const isLowest = lastIndexAtMost(state.ladderBps, inFlight.bitrateBps) <= 0;
    const isSpent = inFlight.abandonments >= MAX_ABANDONMENTS || exceedsWaste(inFlight, maxWastedShare);
    if (!abandon || isLowest || isSpent) return LONGEST_KEPT_SECONDS;
    const spareSeconds = state.bufferLevelSeconds - tuning.patienceSegments * state.segmentSeconds;
    return Math.max(
      SETTLE_SECONDS - (state.nowSeconds - inFlight.requestedAtSeconds),
      state.started ? Math.min(LONGEST_KEPT_SECONDS, spareSeconds / state.playbackRate) : 0,
    );
  }

  /** Names the handover for which a live plan goes down to `best`; empty if it would also go down without a handover. */
  private _loweredFor(state: PlayerState, forecast: QuantileForecast, best: number): string {
    const { utcMs = Number.NaN, previousBitrateBps = 0 } = state;
    const next = forecast.handovers.find(({ atMs, dip }) => dip && atMs > utcMs);
    if (!state.live || !next || !(state.ladderBps[best]! < previousBitrateBps)) return '';
    const without = evaluateAll(state, this._live.outcomes(state, { ...forecast, handovers: [] }), Infinity);
    if (without.best <= best) return '';
    const seconds = ((next.atMs - utcMs) / 1000).toFixed(1);
    return `lower: handover expected in ${seconds} s, ${Math.round(100 * next.confidence)} %; `;
  }

  private _outcomes(state: PlayerState, forecast: QuantileForecast, copies?: number): Outcomes {
    if (state.live) return this._live.outcomes(state, forecast, copies);
    this._futures.draw(forecast, ageSecondsOf(forecast, state.nowSeconds));
    return new SegmentOutcomes(state, this._options, this._futures, this._ranks);
  }

  private _forecastPart(state: PlayerState, forecast: QuantileForecast): Partial<Decision> {
    const { utcMs = Number.NaN } = state;
    const horizonMs = (1000 * state.segmentSeconds * horizonOf(state, this._options)) / state.playbackRate;
    return {
      forecastSource: forecast.source,
      forecastAgeSeconds: ageSecondsOf(forecast, state.nowSeconds),
      handoverInHorizon: forecast.handovers.some(({ atMs }) => atMs >= utcMs && atMs - utcMs <= horizonMs),
    };
  }
}

/** Describes the expectation of the choice, and why the next higher bitrate was rejected. */
function reasonOf(
  state: PlayerState,
  evaluations: readonly Evaluation[],
  best: number,
  { ceilingBps, excluded }: { ceilingBps: number; excluded: string },
): string {
  const chosen = evaluations[best]!;
  const above = evaluations[best + 1];
  if (above === undefined) return `${describeEvaluation(chosen)}; no higher bitrate`;
  const next = megabits(state, best + 1);
  if (state.ladderBps[best + 1]! >= ceilingBps) return `${describeEvaluation(chosen)}; ${next} ${excluded}`;
  return comparison(chosen, next, above);
}

function comparison(chosen: Evaluation, rejected: string, other: Evaluation): string {
  return `${describeEvaluation(chosen)}; ${rejected}: ${describeChange(chosen, other)}`;
}

function megabits({ ladderBps }: PlayerState, representation: number): string {
  return `${ladderBps[representation]! / 1e6} Mbit/s`;
}

/** The lowest bitrate that was abandoned for this or the previous segment; `Infinity` without abandonment. */
function abandonedBitrateBps(state: PlayerState): number {
  let lowestBps = Number.POSITIVE_INFINITY;
  for (let i = state.downloads.length - 1; i >= 0; i--) {
    const { segmentIndex, abandoned, bitrateBps } = state.downloads[i]!;
    // After a seek, earlier downloads may be of any segment.
    if (segmentIndex !== state.segmentIndex && segmentIndex !== state.segmentIndex - 1) break;
    if (abandoned) lowestBps = Math.min(lowestBps, bitrateBps);
  }
  return lowestBps;
}

function exceedsWaste(inFlight: InFlight, maxWastedShare: number): boolean {
  if (maxWastedShare >= 1) return false;
  const { sessionWastedBits = 0, sessionRequestedBits = inFlight.sizeBits } = inFlight;
  return sessionWastedBits + inFlight.receivedBits > maxWastedShare * sessionRequestedBits;
}

/*
 * Judges whether a valid forecast fits the session's measurements. predictor/README.md lists all tests of a
 * forecast.
 */

/** Number of downloads to compare with: the last two show an outage, the last five its end. */
const LAST_FOR_SLOW = 2;
const LAST_FOR_FAST = 5;
/**
 * Reject forecasts more than four times outside the recent throughput. On recordings of satellite links, also on the
 * road, this rejects no forecast of the built-in forecaster.
 */
const FACTOR = 4;
/** Before the first measurement, reject forecasts this many times above the highest bitrate or below the lowest. */
const BLIND_FACTOR = 1000;
/** Capacity above this many times the highest bitrate changes no choice, so it is not checked. */
const USEFUL_FACTOR = 2;
/** The part of a forecast that is checked. */
const CHECKED_SECONDS = 20;
/** A running download counts as a measurement this long after its request. */
const JUDGED_AFTER_SECONDS = 1;

/**
 * The forecast to plan on; undefined if MPC-D has to decide. A forecast that is wrong by an order of magnitude (wrong
 * units, another link, a bug) is worse than none: on a slow link the plan would always choose the top representation.
 * The test is coarse, because a forecast may know of an outage, or of its end, before downloads show it. Paths are for
 * MPC-O alone.
 */
export function usableForecast(
  forecast: ValidForecast | undefined,
  state: PlayerState,
  inFlight?: InFlight,
): QuantileForecast | undefined {
  return forecast && forecast.kind !== 'path' && isPlausible(forecast, state, inFlight) ? forecast : undefined;
}

function isPlausible(forecast: QuantileForecast, state: PlayerState, inFlight?: InFlight): boolean {
  const { middleBps, highBps } = expectationOf(forecast);
  const { ladderBps, nowSeconds, playbackRate } = state;
  // What the player consumes at the lowest and the highest bitrate.
  const lowestBps = ladderBps[0]! * playbackRate;
  const topBps = ladderBps[ladderBps.length - 1]! * playbackRate;
  const rates = state.downloads.slice(-LAST_FOR_FAST).map(rateOf);
  const running: number[] = [];
  if (inFlight !== undefined && nowSeconds - inFlight.requestedAtSeconds >= JUDGED_AFTER_SECONDS) {
    const { firstByteAtSeconds: since = inFlight.requestedAtSeconds } = inFlight;
    running.push(inFlight.receivedBits / (nowSeconds - since));
  }
  const slowest = Math.min(...rates.slice(-LAST_FOR_SLOW), ...running);
  const fastest = Math.max(0, ...rates, ...running);
  if (slowest > fastest) return middleBps <= BLIND_FACTOR * topBps && highBps * BLIND_FACTOR >= lowestBps;
  const isTooFast = middleBps > FACTOR * fastest && fastest < USEFUL_FACTOR * topBps;
  const isTooSlow = highBps * FACTOR < Math.min(slowest, topBps);
  return !isTooFast && !isTooSlow;
}

/** Rate of the bits after the first one. */
export function rateOf({ receivedBits, downloadSeconds, latencySeconds = 0 }: Download): number {
  return receivedBits / Math.max(1e-3, downloadSeconds - Math.max(0, latencySeconds));
}

/** Mean capacity at the median and at the highest quantile level. */
function expectationOf(forecast: QuantileForecast): { middleBps: number; highBps: number } {
  const { levels, stepEndsSeconds, quantilesBps } = forecast;
  const middle = nearestLevel(levels, 0.5);
  let middleBits = 0;
  let highBits = 0;
  let start = 0;
  for (let step = 0; step < stepEndsSeconds.length && (step === 0 || start < CHECKED_SECONDS); step++) {
    const end = stepEndsSeconds[step]!;
    const row = quantilesBps[step]!;
    middleBits += row[middle]! * (end - start);
    highBits += row[levels.length - 1]! * (end - start);
    start = end;
  }
  return { middleBps: middleBits / start, highBps: highBits / start };
}
