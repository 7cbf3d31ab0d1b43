/**
 * MPC-L: model-predictive control over a distribution of futures, with recourse. README.md has the data flow and an
 * example; docs/mpc-l.md has the algorithm, its sources and the value of each part.
 */

import { type Controller, type Decision, type InFlight, type PlayerState, RECENT_DOWNLOADS } from '../controller.ts';
import { ageSecondsOf, type Forecast, type ValidForecast } from '../forecast.ts';
import { horizonOf } from '../horizon.ts';
import { lastIndexAtMost } from '../ladder.ts';
import { createMpcD, type LivePlan } from '../mpc-d.ts';
import { Futures } from './futures.ts';
import { LaterSegments } from './later-segments.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from './options.ts';
import { type Evaluation, type Outcomes, playableSeconds, SegmentOutcomes } from './segment-outcomes.ts';
import { isPlausible, usableForecast } from './usable-forecast.ts';
import { ValueFunction } from './value-function.ts';

export type { MpcLOptions } from './options.ts';

/** Request latency before the first measurement; from then on it is the median of the last ones. */
const DEFAULT_LATENCY_SECONDS = 0.05;
/** Measurements in that median: as many as in RobustMPC's mean. */
const LATENCIES = 5;
/** A download is late if it ends less than this before a stall, because a replacement needs its round trips, too. */
const LATE_MARGIN_SECONDS = 0.2;

/** What a plan is computed from. */
export interface PlanBasis {
  state: PlayerState;
  forecast: Forecast;
  /** Drawn for this state. */
  futures: Futures;
}

/**
 * Plans live streams as if they were on demand; `createLiveMpcL` plans their chunks. Throws `InputError` for an invalid
 * option.
 */
export function createMpcL(options: MpcLOptions = {}): Controller {
  return new MpcL(resolveMpcLOptions(options));
}

export class MpcL implements Controller {
  readonly name: string;
  readonly #options: ResolvedMpcLOptions;
  readonly #futures: Futures;
  readonly #laterSegments: LaterSegments;
  readonly #valueFunction = new ValueFunction();
  readonly #fallback: Controller;

  /** `livePlan`: of MPC-D's, which decides without a usable forecast. */
  constructor(options: ResolvedMpcLOptions, livePlan?: LivePlan) {
    const { name, abandon, tuning, seed } = options;
    this.name = name;
    this.#options = options;
    this.#futures = new Futures(tuning.futures, tuning.bins, seed);
    this.#laterSegments = new LaterSegments(options);
    this.#fallback = createMpcD({ name, abandon, ...(livePlan && { live: livePlan }) });
  }

  /**
   * The representation with the highest score over the futures; MPC-D's choice without a usable, plausible forecast.
   */
  decide(state: PlayerState, forecast?: ValidForecast): Decision {
    const usable = usableForecast(state, forecast, this.#options);
    if (usable === undefined || !isPlausible(usable, state)) {
      const decision = this.#fallback.decide(state);
      return { ...decision, controller: this.name, reason: `no usable forecast, so mpc-d: ${decision.reason}` };
    }
    const { ladderBps } = state;
    const outcomes = this.outcomesOf(this.#basisOf(state, usable));
    const evaluations = ladderBps.map((_, r) => outcomes.evaluate(outcomes.newRequest(r)));
    // Not back up right after an abandonment: that would cost two switches.
    const ceilingBps = abandonedBitrateBps(state);
    let best = 0;
    for (let r = 1; r < ladderBps.length; r++) {
      if (ladderBps[r]! < ceilingBps && evaluations[r]!.score > evaluations[best]!.score) best = r;
    }
    return {
      representation: best,
      controller: this.name,
      reason: `${usable.source}: ${reasonOf(state, evaluations, best, ceilingBps)}`,
      ...this.#basis(state, usable),
      candidates: evaluations.map(({ qoe, stallSeconds }, r) => ({
        bitrateBps: ladderBps[r]!,
        expectedQoe: qoe,
        expectedStallSeconds: stallSeconds,
      })),
    };
  }

  /**
   * Abandons a download that is late in more than `lateShare` of the futures, if a lower bitrate scores higher by at
   * least `abandonMargin`. The first conditions keep a download without an evaluation.
   */
  reconsider(state: PlayerState, inFlight: InFlight, forecast?: ValidForecast): Decision | 'keep' {
    const options = this.#options;
    const { tuning } = options;
    if (!options.abandon || state.isPaused) return 'keep';
    if (inFlight.abandonments >= tuning.maxAbandonments) return 'keep';
    if (state.nowSeconds - inFlight.requestedAtSeconds < tuning.settleSeconds) return 'keep';
    if (state.started && state.bufferLevelSeconds > tuning.patienceSegments * state.segmentSeconds) return 'keep';
    if (exceedsWaste(inFlight, options.maxWastedShare)) return 'keep';
    const current = lastIndexAtMost(state.ladderBps, inFlight.bitrateBps);
    if (current <= 0) return 'keep';
    const usable = usableForecast(state, forecast, options);
    if (usable === undefined) return 'keep';
    if (!isPlausible(usable, state, inFlight)) return this.#reconsiderWithoutForecast(state, inFlight);

    const basis = this.#basisOf(state, usable);
    if (!this.isLate(basis, inFlight, current)) return 'keep';
    const outcomes = this.outcomesOf(basis);
    const running = outcomes.running(inFlight, current);
    const kept = outcomes.evaluate(running);
    const topQuality = state.weights.quality(state.ladderBps[state.ladderBps.length - 1]!);
    let threshold = kept.score + tuning.abandonMargin * topQuality;
    let replacement: { representation: number; evaluation: Evaluation } | undefined;
    for (let r = 0; r < current; r++) {
      // Representations may share a bitrate, and one of them is in flight.
      if (state.ladderBps[r]! >= inFlight.bitrateBps) break;
      const evaluation = outcomes.evaluate(outcomes.newRequest(r, running));
      if (evaluation.score <= threshold) continue;
      threshold = evaluation.score;
      replacement = { representation: r, evaluation };
    }
    if (replacement === undefined) return 'keep';
    const { representation: lower, evaluation } = replacement;
    return {
      representation: lower,
      controller: this.name,
      reason: `${usable.source}: abandoned for ${megabits(state, lower)}: ${comparison(evaluation, 'going on', kept)}`,
      ...this.#basis(state, usable),
    };
  }

  /** An implausible forecast may have chosen the running download, so MPC-D's rule may abandon it. */
  #reconsiderWithoutForecast(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    const answer = this.#fallback.reconsider?.(state, inFlight) ?? 'keep';
    return answer !== 'keep' && state.ladderBps[answer.representation]! < inFlight.bitrateBps ? answer : 'keep';
  }

  /** Undefined without a usable, plausible forecast. */
  protected basisFor(
    state: PlayerState,
    inFlight: InFlight | undefined,
    forecast?: ValidForecast,
  ): PlanBasis | undefined {
    const usable = usableForecast(state, forecast, this.#options);
    return usable && isPlausible(usable, state, inFlight) ? this.#basisOf(state, usable) : undefined;
  }

  protected outcomesOf({ state }: PlanBasis): Outcomes {
    const latencySeconds = recentLatencySeconds(state);
    this.#valueFunction.solve(this.#laterSegments.problem(state, this.#futures, latencySeconds));
    return new SegmentOutcomes(state, {
      options: this.#options,
      futures: this.#futures,
      later: this.#valueFunction,
      latencySeconds,
    });
  }

  /** Whether a download is late in more than `lateShare` of the futures. */
  protected isLate(
    { state, futures }: PlanBasis,
    { sizeBits, receivedBits }: InFlight,
    _representation: number,
  ): boolean {
    const { lateShare, stallLevelSeconds } = this.#options.tuning;
    const bits = Math.max(0, sizeBits - receivedBits);
    const dueSeconds = playableSeconds(state, stallLevelSeconds) - LATE_MARGIN_SECONDS;
    let late = 0;
    for (let f = 0; f < futures.count; f++) if (futures.transferSeconds(f, 0, bits) > dueSeconds) late++;
    return late > lateShare * futures.count;
  }

  /** Draws the futures. */
  #basisOf(state: PlayerState, forecast: Forecast): PlanBasis {
    this.#futures.draw(forecast, ageSecondsOf(forecast, state.nowSeconds));
    return { state, forecast, futures: this.#futures };
  }

  #basis(state: PlayerState, forecast: Forecast): Partial<Decision> {
    const horizonMs = (1000 * state.segmentSeconds * horizonOf(state, this.#options)) / state.playbackRate;
    return {
      forecastSource: forecast.source,
      forecastAgeSeconds: ageSecondsOf(forecast, state.nowSeconds),
      handoverInHorizon: forecast.handovers.some(({ atMs }) => {
        const aheadMs = atMs - (state.utcMs ?? Number.NaN);
        return aheadMs >= 0 && aheadMs <= horizonMs;
      }),
    };
  }
}

/** The expectation of the choice, and why the next higher bitrate was rejected. */
function reasonOf(state: PlayerState, evaluations: readonly Evaluation[], best: number, ceilingBps: number): string {
  const chosen = evaluations[best]!;
  const above = evaluations[best + 1];
  if (above === undefined) return expected(chosen);
  const next = megabits(state, best + 1);
  if (state.ladderBps[best + 1]! >= ceilingBps) return `${expected(chosen)}; ${next} was just abandoned`;
  return comparison(chosen, next, above);
}

/** Expected values of two requests. They cover this segment alone, while the choice depends on later ones, too. */
function comparison(chosen: Evaluation, rejected: string, other: Evaluation): string {
  const against = other.qoe > chosen.qoe ? ', but risk and later segments decide against it' : '';
  return `${expected(chosen)}; ${rejected}: ${expected(other)}${against}`;
}

function expected({ qoe, stallSeconds }: Evaluation): string {
  return `QoE ${qoe.toFixed(2)} per 4 s, stall ${stallSeconds.toFixed(2)} s`;
}

function megabits({ ladderBps }: PlayerState, representation: number): string {
  return `${ladderBps[representation]! / 1e6} Mbit/s`;
}

/** Median latency of the last requests that have one. */
export function recentLatencySeconds({ downloads }: PlayerState): number {
  const latencies: number[] = [];
  const oldest = Math.max(0, downloads.length - RECENT_DOWNLOADS);
  for (let i = downloads.length - 1; i >= oldest && latencies.length < LATENCIES; i--) {
    const latency = downloads[i]!.latencySeconds;
    if (latency !== undefined && latency >= 0) latencies.push(latency);
  }
  if (latencies.length === 0) return DEFAULT_LATENCY_SECONDS;
  latencies.sort((a, b) => a - b);
  return latencies[latencies.length >> 1]!;
}

/** The lowest bitrate that was abandoned for this segment or the one before it; `Infinity` if none was. */
function abandonedBitrateBps(state: PlayerState): number {
  let lowestBps = Number.POSITIVE_INFINITY;
  for (let i = state.downloads.length - 1; i >= 0; i--) {
    const { segmentIndex, abandoned, bitrateBps } = state.downloads[i]!;
    // Earlier downloads may be of any segment, after a seek.
    if (segmentIndex !== state.segmentIndex && segmentIndex !== state.segmentIndex - 1) break;
    if (abandoned) lowestBps = Math.min(lowestBps, bitrateBps);
  }
  return lowestBps;
}

function exceedsWaste(inFlight: InFlight, maxWastedShare: number): boolean {
  if (maxWastedShare >= 1) return false;
  const wasted = (inFlight.sessionWastedBits ?? 0) + inFlight.receivedBits;
  return wasted > maxWastedShare * (inFlight.sessionRequestedBits ?? inFlight.sizeBits);
}
