/**
 * Where in the 15 s epoch of a LEO link is the session, and how sure is that? A Bayesian grid over the position of the
 * handover, from the time source, the session's own throughput and latency, and hints of a service.
 * docs/handover-clock.md has the method and how well it does. Pure, deterministic, constant memory.
 */

import type { Observation, SessionContext } from '../../abr/forecast.ts';
import { CELLS, EPOCH_SECONDS, type Level, LevelFilters, type LevelParameters } from './level-filters.ts';
import { LATENCY_PARAMETERS, RATE_PARAMETERS, REPEAT_SECONDS } from './level-parameters.ts';
import { RateBins } from './rate-bins.ts';
import { Repeats } from './repeats.ts';

export interface HandoverClockOptions {
  /** Probability that a session is on a LEO link before anything was seen, 0 to 1 exclusive. Default 0.5. */
  leoPrior?: number;
  /** `leoProbability` from which handovers are announced; they are until it falls under half. Default 0.98. */
  claimProbability?: number;
  /** Constants of the evidence, for fitting. Default: those fitted to recordings. */
  rateParameters?: LevelParameters;
  latencyParameters?: LevelParameters;
}

/** A handover that the clock expects, on the session's clock. */
export interface ClockedHandover {
  atSeconds: number;
  /** Probability that there is one within a second of that moment, 0 to 1. */
  confidence: number;
}

export interface HandoverEstimate {
  /** The next three, soonest first; none unless the link is known to be LEO. */
  nextHandovers: ClockedHandover[];
  /** Where in the 15 s of the session's clock handovers fall, 0 to below 15: they are at this plus multiples of 15. */
  phaseSeconds: number;
  /** Root of the mean squared error that the clock expects of `phaseSeconds`; 4.3 where nothing is known. */
  uncertaintySeconds: number;
  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  leoProbability: number;
  /** ln of how much better epochs explain the session than none do; kept within limits (`LOG_RATIO_LIMITS`). */
  logLikelihoodRatio: number;
  /** Whether the evidence suffices to plan with handovers. */
  isLeo: boolean;
}

/** Reconfigurations are at seconds 12, 27, 42 and 57 of the minute (UTC), as several public data sets show. */
const SCHEDULE_SECONDS = 12;
/** Spread of where they show in recordings, beside the time source's uncertainty. */
const SCHEDULE_SPREAD_SECONDS = 0.8;
/** A time source's uncertainty is so many standard deviations. */
const UNCERTAINTY_DEVIATIONS = 1.5;
/** Share of time sources that are wrong by more than they say. */
const WRONG_TIME_SHARE = 0.2;
const DEFAULT_UNCERTAINTY_SECONDS = 2;
/** A position never gets less likely than e^-6 of the best, so that a leap is found within a few epochs. */
const MAX_LOG_ODDS = 6;
/** The evidence for epochs stays within these, so that a change of network is noticed. */
const LOG_RATIO_LIMITS = { least: -5, greatest: 9 };
/** No hint is surer than this. */
const SUREST_HINT = 0.99;
/** Half the width of the window around the best position in which positions are averaged. */
const WINDOW_SECONDS = 2;
/** Positions nearer to each other than this are one when the best is looked for. */
const NEAR_SECONDS = 1.25;
const CELL_SECONDS = EPOCH_SECONDS / CELLS;
const ANNOUNCED = 3;

export class HandoverClock {
  readonly #logLeoOdds: number;
  readonly #claimProbability: number;
  readonly #rateParameters: LevelParameters;
  readonly #latencyParameters: LevelParameters;
  /** ln weight per hypothesis: prior, evidence and hints. Cells first, then the hypotheses without epochs. */
  readonly #logWeights: Float64Array;
  readonly #logEpochs: Float64Array;
  readonly #logWithout: Float64Array;
  /** ln of what is known from the time source, per cell. */
  readonly #logPrior = new Float64Array(CELLS);
  #rates!: LevelFilters;
  #latencies!: LevelFilters;
  #repeats: Repeats[] = [];
  #bins = new RateBins();
  #started = false;
  #isLeo = false;
  #lastSeconds = 0;
  #lastHintSeconds = 0;

  constructor(options: HandoverClockOptions = {}) {
    const { leoPrior = 0.5, claimProbability = 0.98 } = options;
    this.#logLeoOdds = Math.log(leoPrior / (1 - leoPrior));
    this.#claimProbability = claimProbability;
    this.#rateParameters = options.rateParameters ?? RATE_PARAMETERS;
    this.#latencyParameters = options.latencyParameters ?? LATENCY_PARAMETERS;
    this.#logWeights = new Float64Array(CELLS + this.#rateParameters.steady.length + REPEAT_SECONDS.length);
    this.#logEpochs = this.#logWeights.subarray(0, CELLS);
    this.#logWithout = this.#logWeights.subarray(CELLS);
  }

  /** Forgets the last session and begins another. */
  start(context: SessionContext): void {
    this.#rates = new LevelFilters(this.#rateParameters);
    this.#latencies = new LevelFilters(this.#latencyParameters);
    this.#repeats = REPEAT_SECONDS.map((seconds) => new Repeats(seconds));
    this.#bins = new RateBins();
    this.#isLeo = false;
    this.#lastSeconds = 0;
    this.#lastHintSeconds = Number.NEGATIVE_INFINITY;
    this.#logPrior.fill(-Math.log(CELLS));
    this.#logEpochs.set(this.#logPrior);
    this.#logWithout.fill(-Math.log(this.#logWithout.length));
    this.#started = true;
    if (context.utcMsAtStart !== undefined) this.tellTime(0, context.utcMsAtStart, context.utcUncertaintySeconds);
  }

  /**
   * At session second `atSeconds` it was `utcMs` by a time source, give or take `uncertaintySeconds` (default 2).
   * Replaces what was known of the time; the session's own evidence stays.
   */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds = DEFAULT_UNCERTAINTY_SECONDS): void {
    if (!this.#started || !Number.isFinite(atSeconds + utcMs) || !(uncertaintySeconds >= 0)) return;
    const spread = Math.hypot(SCHEDULE_SPREAD_SECONDS, uncertaintySeconds / UNCERTAINTY_DEVIATIONS);
    const near = nearness(SCHEDULE_SECONDS + atSeconds - ((utcMs / 1000) % EPOCH_SECONDS), spread);
    for (let cell = 0; cell < CELLS; cell++) {
      const logShare = Math.log(((1 - WRONG_TIME_SHARE) * near[cell]! + WRONG_TIME_SHARE) / CELLS);
      this.#logEpochs[cell]! += logShare - this.#logPrior[cell]!;
      this.#logPrior[cell] = logShare;
    }
    this.#settle();
  }

  /**
   * A service expects a handover at a second of the session's clock, give or take `uncertaintySeconds` (one standard
   * deviation), and is right with probability `confidence`. Hints that follow each other within an epoch are taken for
   * the same knowledge and count by the time between them.
   */
  hint(atSeconds: number, uncertaintySeconds: number, confidence: number): void {
    if (!this.#started || !Number.isFinite(atSeconds) || !(uncertaintySeconds >= 0)) return;
    if (!(confidence > 0 && confidence <= 1)) return;
    const news = Math.min(1, (this.#lastSeconds - this.#lastHintSeconds) / EPOCH_SECONDS);
    if (!(news > 0)) return;
    this.#lastHintSeconds = this.#lastSeconds;
    const sure = Math.min(confidence, SUREST_HINT);
    const near = nearness(atSeconds, Math.hypot(uncertaintySeconds, CELL_SECONDS));
    for (let cell = 0; cell < CELLS; cell++) {
      this.#logEpochs[cell]! += news * Math.log(1 - sure + sure * near[cell]!);
    }
    add(this.#logWithout, news * Math.log(1 - sure));
    this.#settle();
  }

  /** Impossible observations (not finite, negative, out of order) are ignored. */
  observe(observation: Observation): void {
    if (!this.#started) return;
    if (observation.kind === 'request-latency') {
      const { atSeconds, latencySeconds } = observation;
      if (!Number.isFinite(atSeconds) || !(latencySeconds > 0 && latencySeconds < Number.POSITIVE_INFINITY)) return;
      this.#weighLatency({ atSeconds, seconds: latencySeconds, value: Math.log(latencySeconds) });
    } else this.#bins.observe(observation, (bin) => this.#weighRate(bin));
  }

  /** Probability per cell of 0.25 s, given that there are epochs: entry c is for handovers at c * 0.25 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    const weights = this.#logEpochs.map(Math.exp);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }

  /** Undefined before the session has started. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!this.#started || !Number.isFinite(nowSeconds)) return undefined;
    const weights = this.positionProbabilities();
    const phaseSeconds = positionOf(weights);
    let squared = 0;
    let within = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const distance = Math.abs(distanceTo(phaseSeconds, cell));
      squared += weights[cell]! * distance * distance;
      if (distance <= 1) within += weights[cell]!;
    }
    const leoProbability = this.#leoProbability();
    const next = nowSeconds + modulo(phaseSeconds - nowSeconds, EPOCH_SECONDS);
    return {
      nextHandovers: Array.from({ length: this.#isLeo ? ANNOUNCED : 0 }, (_, i) => ({
        atSeconds: next + i * EPOCH_SECONDS,
        confidence: within * leoProbability,
      })),
      phaseSeconds,
      uncertaintySeconds: Math.sqrt(squared),
      leoProbability,
      logLikelihoodRatio: this.#logRatio(),
      isLeo: this.#isLeo,
    };
  }

  #weighRate(bin: Level): void {
    this.#lastSeconds = bin.atSeconds;
    this.#rates.observe(bin);
    const { logDensities } = this.#rates;
    for (let i = 0; i < logDensities.length; i++) this.#logWeights[i]! += logDensities[i]!;
    for (let i = 0; i < this.#repeats.length; i++) {
      const logDensity = this.#repeats[i]!.observe(bin);
      this.#logWeights[logDensities.length + i]! +=
        logDensity === undefined ? logDensities[CELLS]! : logDensity * this.#rateParameters.weight;
    }
    this.#settle();
  }

  /** Latency tells where handovers are but not whether there are any: its steps have many causes, as has its constancy. */
  #weighLatency(latency: Level): void {
    const before = logSum(this.#logEpochs);
    this.#latencies.observe(latency);
    for (let cell = 0; cell < CELLS; cell++) this.#logEpochs[cell]! += this.#latencies.logDensities[cell]!;
    add(this.#logEpochs, before - logSum(this.#logEpochs));
    this.#settle();
  }

  #logRatio(): number {
    return logSum(this.#logEpochs) - logSum(this.#logWithout);
  }

  #leoProbability(): number {
    return 1 / (1 + Math.exp(-this.#logRatio() - this.#logLeoOdds));
  }

  /** Keeps each hypothesis within reach, so that a leap of the clock or a change of network is found soon. */
  #settle(): void {
    lift(this.#logEpochs);
    lift(this.#logWithout);
    // Numbers stay small however long the session.
    const logRatio = this.#logRatio();
    add(this.#logEpochs, -logSum(this.#logEpochs));
    const { least, greatest } = LOG_RATIO_LIMITS;
    add(this.#logWithout, -logSum(this.#logWithout) - Math.min(greatest, Math.max(least, logRatio)));
    this.#isLeo = this.#leoProbability() >= this.#claimProbability * (this.#isLeo ? 0.5 : 1);
  }
}

/** Seconds from a position to a cell, the short way round. */
function distanceTo(seconds: number, cell: number): number {
  return modulo(cell * CELL_SECONDS - seconds + EPOCH_SECONDS / 2, EPOCH_SECONDS) - EPOCH_SECONDS / 2;
}

/** Per cell, a normal density around a second of the session, wrapped, relative to a uniform one. */
function nearness(atSeconds: number, spreadSeconds: number): Float64Array {
  const density = new Float64Array(CELLS);
  for (let cell = 0; cell < CELLS; cell++)
    density[cell] = Math.exp(-0.5 * (distanceTo(atSeconds, cell) / spreadSeconds) ** 2);
  const mean = density.reduce((total, value) => total + value, 0) / CELLS;
  return density.map((value) => value / mean);
}

/** The mean position around the cell that has the most weight near it. */
function positionOf(weights: Float64Array): number {
  let best = 0;
  let most = -1;
  for (let cell = 0; cell < CELLS; cell++) {
    const { weight } = gather(weights, cell, NEAR_SECONDS);
    if (weight <= most) continue;
    most = weight;
    best = cell;
  }
  return modulo(best * CELL_SECONDS + gather(weights, best, WINDOW_SECONDS).offsetSeconds, EPOCH_SECONDS);
}

/** Weight around a cell, counted less with its distance, and how far its centre is from the cell. */
function gather(weights: Float64Array, cell: number, reachSeconds: number): { weight: number; offsetSeconds: number } {
  let weight = 0;
  let moment = 0;
  const reach = Math.floor(reachSeconds / CELL_SECONDS);
  for (let offset = -reach; offset <= reach; offset++) {
    const share = weights[(cell + offset + CELLS) % CELLS]! * (1 - Math.abs(offset) / (reach + 1));
    weight += share;
    moment += share * offset;
  }
  return { weight, offsetSeconds: (moment / weight) * CELL_SECONDS };
}

/** Lifts each value to at least `MAX_LOG_ODDS` under the greatest. */
function lift(values: Float64Array): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]!);
  for (let i = 0; i < values.length; i++) values[i] = Math.max(values[i]!, most - MAX_LOG_ODDS);
}

/** ln of the sum of the exponentials of values that are not far from 0. */
function logSum(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i]!);
  return Math.log(sum);
}

function add(values: Float64Array, amount: number): void {
  for (let i = 0; i < values.length; i++) values[i]! += amount;
}

function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}
