/**
 * Where in the 15 s epoch of a LEO link is the session, and how sure is that? A Bayesian grid over the position of the
 * handover, from the time source, the session's own throughput and latency, and hints of a service.
 * docs/handover-clock.md has the method and how well it does. Pure, deterministic, constant memory.
 */

import { EPOCH_SECONDS, HANDOVER_SECOND, type Observation, type SessionContext } from '../../abr/forecast.ts';
import { CELLS, type Level, LevelFilters, type LevelParameters } from './level-filters.ts';
import { LATENCY_PARAMETERS, RATE_PARAMETERS, REPEAT_SECONDS } from './level-parameters.ts';
import { isMoment, RateBins } from './rate-bins.ts';
import { Repeats } from './repeats.ts';

// Bound once: the loops over the cells are what the clock costs.
const { abs, exp, floor, hypot, log, max, min, round, sqrt } = Math;

export interface HandoverClockOptions {
  /** Probability that a session is on a LEO link before anything was seen, 0 to 1 exclusive. Default 0.5. */
  leoPrior?: number;
  /** `leoProbability` from which handovers are announced; they are until it falls under half. Default 0.975. */
  claimProbability?: number;
  /** Constants of the evidence, for fitting. Default: those fitted to recordings. */
  rateParameters?: LevelParameters;
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
/** As far as a `Date` goes. */
const LATEST_UTC_MS = 8.64e15;
/** Times told that agree so well are the same. */
const SAME_TIME_SECONDS = 0.05;
/** Times told that differ by so much are not one clock's drift. */
const LEAST_LEAP_SECONDS = 0.5;
/** No hint is surer than this. */
const SUREST_HINT = 0.99;
/** Half the width of the window around the best position in which positions are averaged: 2 s. */
const WINDOW_CELLS = 8;
/** Positions nearer to each other than 1.25 s are one when the best is looked for. */
const NEAR_CELLS = 5;
const CELL_SECONDS = EPOCH_SECONDS / CELLS;
const ANNOUNCED = 3;

export class HandoverClock {
  readonly #logLeoOdds: number;
  readonly #claimProbability: number;
  readonly #rateParameters: LevelParameters;
  /** ln weight per hypothesis: prior, evidence and hints. Cells first, then the hypotheses without epochs. */
  readonly #logWeights: Float64Array;
  readonly #logEpochs: Float64Array;
  readonly #logWithout: Float64Array;
  /** What is known from the time source: probability per cell. */
  readonly #prior = new Float64Array(CELLS);
  #utcSecondsAtStart = Number.NaN;
  #utcUncertaintySeconds = Number.NaN;
  #rates!: LevelFilters;
  #latencies!: LevelFilters;
  #repeats: Repeats[] = [];
  #bins = new RateBins();
  #started = false;
  /** ln of the weight of all cells over that of the hypotheses without epochs. */
  #logRatio = 0;
  #isLeo = false;
  #lastSeconds = 0;
  #lastHintSeconds = 0;

  constructor(options: HandoverClockOptions = {}) {
    const { leoPrior = 0.5, claimProbability = 0.975 } = options;
    this.#logLeoOdds = log(leoPrior / (1 - leoPrior));
    this.#claimProbability = claimProbability;
    this.#rateParameters = options.rateParameters ?? RATE_PARAMETERS;
    this.#logWeights = new Float64Array(CELLS + this.#rateParameters.steady.length + REPEAT_SECONDS.length);
    this.#logEpochs = this.#logWeights.subarray(0, CELLS);
    this.#logWithout = this.#logWeights.subarray(CELLS);
  }

  /** Forgets the last session and begins another. */
  start(context: SessionContext): void {
    this.#rates = new LevelFilters(this.#rateParameters);
    this.#latencies = new LevelFilters(LATENCY_PARAMETERS);
    this.#repeats = REPEAT_SECONDS.map((seconds) => new Repeats(seconds));
    this.#bins = new RateBins();
    this.#logRatio = 0;
    this.#isLeo = false;
    this.#lastSeconds = 0;
    this.#lastHintSeconds = Number.NEGATIVE_INFINITY;
    this.#prior.fill(1 / CELLS);
    this.#utcSecondsAtStart = Number.NaN;
    this.#logEpochs.fill(-log(CELLS));
    this.#logWithout.fill(-log(this.#logWithout.length));
    this.#started = true;
    if (context.utcMsAtStart !== undefined) this.tellTime(0, context.utcMsAtStart, context.utcUncertaintySeconds);
  }

  /**
   * At session second `atSeconds` it was `utcMs` by a time source, give or take `uncertaintySeconds` (default 2).
   * Replaces what was known of the time; may be told again and again. Where it contradicts what was told before, either
   * the time source was corrected or the session's clock leapt (a page that slept): both are kept until evidence decides.
   */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds = DEFAULT_UNCERTAINTY_SECONDS): void {
    if (!this.#started || !isMoment(atSeconds) || !(abs(utcMs) < LATEST_UTC_MS)) return;
    if (!(uncertaintySeconds >= 0)) return;
    const utcSecondsAtStart = utcMs / 1000 - atSeconds;
    const leapSeconds = utcSecondsAtStart - this.#utcSecondsAtStart;
    const sameSource = abs(uncertaintySeconds - this.#utcUncertaintySeconds) < SAME_TIME_SECONDS;
    if (sameSource && abs(leapSeconds) < SAME_TIME_SECONDS) return;
    // Two sources may differ by what they say themselves.
    const leastLeap = sameSource ? LEAST_LEAP_SECONDS : uncertaintySeconds + this.#utcUncertaintySeconds;
    this.#utcSecondsAtStart = utcSecondsAtStart;
    this.#utcUncertaintySeconds = uncertaintySeconds;
    const spread = hypot(SCHEDULE_SPREAD_SECONDS, uncertaintySeconds / UNCERTAINTY_DEVIATIONS);
    const near = nearness(HANDOVER_SECOND - modulo(utcSecondsAtStart, EPOCH_SECONDS), spread);
    const weights = this.positionProbabilities();
    const leapt = abs(leapSeconds) >= leastLeap;
    for (let cell = 0; cell < CELLS; cell++) {
      const share = ((1 - WRONG_TIME_SHARE) * near[cell]! + WRONG_TIME_SHARE) / CELLS;
      const corrected = (weights[cell]! * share) / this.#prior[cell]!;
      // What is at this cell now was at a later one before the session's clock went back, an earlier one if it went on.
      const moved = leapt ? weights[modulo(cell + round(leapSeconds / CELL_SECONDS), CELLS)]! : corrected;
      this.#logEpochs[cell] = log((corrected + moved) / 2);
      this.#prior[cell] = share;
    }
    this.#settle();
  }

  /**
   * A service expects a handover at a second of the session's clock, give or take `uncertaintySeconds` (one standard
   * deviation), and is right with probability `confidence`. Hints that follow each other within an epoch are taken for
   * the same knowledge and count by the time between them.
   */
  hint(atSeconds: number, uncertaintySeconds: number, confidence: number): void {
    if (!this.#started || !isMoment(atSeconds) || !(uncertaintySeconds >= 0)) return;
    if (!(confidence > 0 && confidence <= 1)) return;
    const news = min(1, (this.#lastSeconds - this.#lastHintSeconds) / EPOCH_SECONDS);
    if (!(news > 0)) return;
    this.#lastHintSeconds = this.#lastSeconds;
    const sure = min(confidence, SUREST_HINT);
    const near = nearness(atSeconds, hypot(uncertaintySeconds, CELL_SECONDS));
    for (let cell = 0; cell < CELLS; cell++) {
      this.#logEpochs[cell]! += news * log(1 - sure + sure * near[cell]!);
    }
    add(this.#logWithout, news * log(1 - sure));
    this.#settle();
  }

  /** Impossible observations (not finite, negative, out of order) are ignored. */
  observe(observation: Observation): void {
    if (!this.#started) return;
    if (observation.kind === 'request-latency') {
      const { atSeconds, latencySeconds } = observation;
      if (!isMoment(atSeconds) || !(latencySeconds > 0 && latencySeconds < Number.POSITIVE_INFINITY)) return;
      this.#weighLatency({ atSeconds, seconds: latencySeconds, value: log(latencySeconds) });
    } else this.#bins.observe(observation, this.#weighRate);
  }

  /** Probability per cell of 0.25 s, given that there are epochs: entry c is for handovers at c * 0.25 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    // Their sum has been 1 since they were settled.
    return this.#logEpochs.map(exp);
  }

  /** Undefined before the session has started, and for a `nowSeconds` that is no moment. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!this.#started || !isMoment(nowSeconds)) return undefined;
    const weights = this.positionProbabilities();
    const phaseSeconds = positionOf(weights);
    let squared = 0;
    let within = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const distance = abs(distanceTo(phaseSeconds, cell));
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
      uncertaintySeconds: sqrt(squared),
      leoProbability,
      logLikelihoodRatio: this.#logRatio,
      isLeo: this.#isLeo,
    };
  }

  #weighRate = (bin: Level): void => {
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
  };

  /** Latency tells where handovers are but not whether there are any: its steps have many causes, as has its constancy. */
  #weighLatency(latency: Level): void {
    this.#latencies.observe(latency);
    for (let cell = 0; cell < CELLS; cell++) this.#logEpochs[cell]! += this.#latencies.logDensities[cell]!;
    add(this.#logEpochs, -logSum(this.#logEpochs));
    this.#settle();
  }

  #leoProbability(): number {
    return 1 / (1 + exp(-this.#logRatio - this.#logLeoOdds));
  }

  /** Keeps each hypothesis within reach, so that a leap of the clock or a change of network is found soon. */
  #settle(): void {
    const { least, greatest } = LOG_RATIO_LIMITS;
    // Before anything is lifted: likelihood that was not earned would add up to a link that is none.
    this.#logRatio = min(greatest, max(least, logSum(this.#logEpochs) - logSum(this.#logWithout)));
    lift(this.#logEpochs);
    lift(this.#logWithout);
    // Numbers stay small however long the session.
    add(this.#logEpochs, -logSum(this.#logEpochs));
    add(this.#logWithout, -logSum(this.#logWithout) - this.#logRatio);
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
    density[cell] = exp(-0.5 * (distanceTo(atSeconds, cell) / spreadSeconds) ** 2);
  const mean = density.reduce((total, value) => total + value, 0) / CELLS;
  return density.map((value) => value / mean);
}

/** The mean position around the cell that has the most weight near it. */
function positionOf(weights: Float64Array): number {
  let best = 0;
  let most = -1;
  for (let cell = 0; cell < CELLS; cell++) {
    const weight = gather(weights, { cell, reach: NEAR_CELLS, power: 0 });
    if (weight <= most) continue;
    most = weight;
    best = cell;
  }
  const around = { cell: best, reach: WINDOW_CELLS };
  const offset = gather(weights, { ...around, power: 1 }) / gather(weights, { ...around, power: 0 });
  return modulo((best + offset) * CELL_SECONDS, EPOCH_SECONDS);
}

/** Sum around a cell of the weights, or of their moments, counted less with their distance. */
function gather(weights: Float64Array, around: { cell: number; reach: number; power: 0 | 1 }): number {
  const { cell, reach, power } = around;
  let sum = 0;
  for (let offset = -reach; offset <= reach; offset++) {
    const share = weights[(cell + offset + CELLS) % CELLS]! * (1 - abs(offset) / (reach + 1));
    sum += power === 0 ? share : share * offset;
  }
  return sum;
}

/** Lifts each value to at least `MAX_LOG_ODDS` under the greatest. */
function lift(values: Float64Array): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) most = max(most, values[i]!);
  for (let i = 0; i < values.length; i++) values[i] = max(values[i]!, most - MAX_LOG_ODDS);
}

/** ln of the sum of the exponentials of values that are not far from 0. */
function logSum(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += exp(values[i]!);
  return log(sum);
}

function add(values: Float64Array, amount: number): void {
  for (let i = 0; i < values.length; i++) values[i]! += amount;
}

function modulo(value: number, by: number): number {
  return value - by * floor(value / by);
}
