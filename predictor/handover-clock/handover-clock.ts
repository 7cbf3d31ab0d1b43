/**
 * Where in the 15 s epoch of a LEO link is the session, and how sure is that? A Bayesian grid over the position of the
 * handover, from the time source, the session's own throughput and hints of a service. docs/handover-clock.md has the
 * method, its sources and how well it does. Pure, deterministic, constant memory.
 */

import type { Observation, SessionContext } from '../../abr/forecast.ts';
import { CELLS, EPOCH_SECONDS, LevelFilters, type LevelParameters } from './level-filters.ts';
import { LEVEL_PARAMETERS } from './level-parameters.ts';
import { RateBins } from './rate-bins.ts';

export interface HandoverClockOptions {
  /** Probability that a session is on a LEO link before anything was seen. Default 0.5. */
  leoPrior?: number;
  /** `leoProbability` from which handovers are announced; they are until it falls under half. Default 0.99. */
  claimProbability?: number;
  /** Constants of the evidence. Default: those fitted to recordings. */
  parameters?: LevelParameters;
}

/** A handover that the clock expects, on the session's clock. */
export interface ClockedHandover {
  atSeconds: number;
  /** Probability that one shows within a second of that moment, 0 to 1. */
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
  /** ln of how much better epochs explain the session than none do. */
  logLikelihoodRatio: number;
  /** Whether the evidence suffices to plan with handovers. */
  isLeo: boolean;
}

/** Reconfigurations are at seconds 12, 27, 42 and 57 of the minute (UTC), as several public data sets show. */
const SCHEDULE_SECONDS = 12;
/** Spread of where they show in recordings, beside the time source's uncertainty. */
const SCHEDULE_SPREAD_SECONDS = 0.8;
/** Share of time sources that are wrong by more than they say. */
const WRONG_TIME_SHARE = 0.1;
/** A position never gets less likely than e^-8 of the best, so that a leap is found within a few epochs. */
const MAX_LOG_ODDS = 8;
/** Limits of the evidence for and against epochs, so that a change of network is noticed. */
const LEAST_LOG_RATIO = -5;
const GREATEST_LOG_RATIO = 9;
/** Half the width of the window around the best position in which positions are averaged, in cells. */
const WINDOW_CELLS = 8;
const CELL_SECONDS = EPOCH_SECONDS / CELLS;
const ANNOUNCED = 3;

export class HandoverClock {
  readonly #leoPrior: number;
  readonly #claimProbability: number;
  readonly #parameters: LevelParameters;
  /** ln weight per hypothesis: prior, evidence and hints. Cells first, then the hypotheses without epochs. */
  readonly #logWeights: Float64Array;
  readonly #logPrior = new Float64Array(CELLS);
  readonly #weights = new Float64Array(CELLS);
  #filters: LevelFilters;
  #bins = new RateBins();
  #started = false;
  #isLeo = false;
  #lastSeconds = 0;
  #lastHintSeconds = Number.NEGATIVE_INFINITY;

  constructor(options: HandoverClockOptions = {}) {
    this.#leoPrior = options.leoPrior ?? 0.5;
    this.#claimProbability = options.claimProbability ?? 0.99;
    this.#parameters = options.parameters ?? LEVEL_PARAMETERS;
    this.#filters = new LevelFilters(this.#parameters);
    this.#logWeights = new Float64Array(this.#filters.logDensities.length);
  }

  /** Forgets the last session and begins another. */
  start(context: SessionContext): void {
    this.#filters = new LevelFilters(this.#parameters);
    this.#bins = new RateBins();
    this.#isLeo = false;
    this.#lastSeconds = 0;
    this.#lastHintSeconds = Number.NEGATIVE_INFINITY;
    this.#logPrior.fill(-Math.log(CELLS));
    this.#logWeights.fill(-Math.log(this.#logWeights.length - CELLS));
    this.#logWeights.set(this.#logPrior);
    this.#started = true;
    const { utcMsAtStart, utcUncertaintySeconds = 2 } = context;
    if (utcMsAtStart !== undefined) this.tellTime(0, utcMsAtStart, utcUncertaintySeconds);
  }

  /** A better time source has answered: at session second `atSeconds` it was `utcMs`. Replaces what was known of time. */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    if (!Number.isFinite(atSeconds) || !Number.isFinite(utcMs) || !(uncertaintySeconds >= 0)) return;
    const scheduled = SCHEDULE_SECONDS + atSeconds - ((utcMs / 1000) % 60);
    const spread = Math.sqrt(SCHEDULE_SPREAD_SECONDS ** 2 + (uncertaintySeconds / 1.5) ** 2);
    const near = this.#nearness(scheduled, spread);
    for (let cell = 0; cell < CELLS; cell++) {
      const share = ((1 - WRONG_TIME_SHARE) * near[cell]! + WRONG_TIME_SHARE) / CELLS;
      this.#logWeights[cell]! += Math.log(share) - this.#logPrior[cell]!;
      this.#logPrior[cell] = Math.log(share);
    }
    this.#limit();
  }

  /**
   * A service expects a handover at a second of the session's clock, give or take `uncertaintySeconds` (one standard
   * deviation), and is right with probability `confidence`. Hints that follow each other within an epoch are taken for
   * the same knowledge and count by the time between them.
   */
  hint(atSeconds: number, uncertaintySeconds: number, confidence: number): void {
    if (!Number.isFinite(atSeconds) || !(uncertaintySeconds >= 0) || !(confidence > 0 && confidence <= 1)) return;
    const news = Math.min(1, (this.#lastSeconds - this.#lastHintSeconds) / EPOCH_SECONDS);
    if (!(news > 0)) return;
    this.#lastHintSeconds = this.#lastSeconds;
    const sure = Math.min(confidence, 0.99);
    const near = this.#nearness(atSeconds, Math.sqrt(uncertaintySeconds ** 2 + CELL_SECONDS ** 2));
    for (let cell = 0; cell < CELLS; cell++) {
      this.#logWeights[cell]! += news * Math.log(1 - sure + sure * near[cell]!);
    }
    for (let i = CELLS; i < this.#logWeights.length; i++) this.#logWeights[i]! += news * Math.log(1 - sure);
    this.#limit();
  }

  /** Impossible observations (not finite, negative, out of order) are ignored. */
  observe(observation: Observation): void {
    if (!this.#started) return;
    this.#bins.observe(observation, (bin) => {
      this.#lastSeconds = bin.endSeconds;
      this.#filters.observe(bin);
      const { logDensities } = this.#filters;
      for (let i = 0; i < logDensities.length; i++) this.#logWeights[i]! += logDensities[i]!;
      this.#limit();
    });
  }

  /** Probability per 1/60 of an epoch, given that there are epochs: entry c is for handovers at c * 0.25 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    this.#normalise();
    return this.#weights.slice();
  }

  /** Undefined before the session has started. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!this.#started || !Number.isFinite(nowSeconds)) return undefined;
    this.#normalise();
    const weights = this.#weights;
    const best = this.#best();
    let near = 0;
    let sum = 0;
    for (let offset = -WINDOW_CELLS; offset <= WINDOW_CELLS; offset++) {
      const weight = weights[modulo(best + offset, CELLS)]!;
      near += weight;
      sum += weight * offset;
    }
    const phaseSeconds = modulo((best + sum / near) * CELL_SECONDS, EPOCH_SECONDS);
    let squared = 0;
    let within = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const distance = Math.abs(modulo(cell * CELL_SECONDS - phaseSeconds + 7.5, EPOCH_SECONDS) - 7.5);
      squared += weights[cell]! * distance * distance;
      if (distance <= 1) within += weights[cell]!;
    }
    const logLikelihoodRatio = -logSum(this.#logWeights.subarray(CELLS));
    const odds = (Math.exp(logLikelihoodRatio) * this.#leoPrior) / (1 - this.#leoPrior);
    const leoProbability = odds === Number.POSITIVE_INFINITY ? 1 : odds / (1 + odds);
    this.#isLeo = leoProbability >= (this.#isLeo ? this.#claimProbability / 2 : this.#claimProbability);
    const nextHandovers: ClockedHandover[] = [];
    if (this.#isLeo) {
      const next = nowSeconds + modulo(phaseSeconds - nowSeconds, EPOCH_SECONDS);
      for (let i = 0; i < ANNOUNCED; i++) {
        nextHandovers.push({ atSeconds: next + i * EPOCH_SECONDS, confidence: within * leoProbability });
      }
    }
    return {
      nextHandovers,
      phaseSeconds,
      uncertaintySeconds: Math.sqrt(squared),
      leoProbability,
      logLikelihoodRatio,
      isLeo: this.#isLeo,
    };
  }

  /** Density of a normal distribution around a second of the session, wrapped, relative to a uniform one, per cell. */
  #nearness(atSeconds: number, spreadSeconds: number): Float64Array {
    const density = new Float64Array(CELLS);
    let sum = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const distance = modulo(cell * CELL_SECONDS - atSeconds + 7.5, EPOCH_SECONDS) - 7.5;
      density[cell] = Math.exp(-0.5 * (distance / spreadSeconds) ** 2);
      sum += density[cell]!;
    }
    return density.map((value) => (value * CELLS) / sum);
  }

  /** Keeps each hypothesis within reach, so that a leap of the clock or a change of network is found soon. */
  #limit(): void {
    const epochs = this.#logWeights.subarray(0, CELLS);
    const without = this.#logWeights.subarray(CELLS);
    // Numbers stay small however long the session.
    const logEpochs = keepInReach(epochs);
    const logRatio = logEpochs - keepInReach(without);
    add(epochs, -logEpochs);
    add(without, logRatio - logEpochs - Math.min(GREATEST_LOG_RATIO, Math.max(LEAST_LOG_RATIO, logRatio)));
  }

  /** Fills the weights so that they sum to 1. */
  #normalise(): void {
    let sum = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const weight = Math.exp(this.#logWeights[cell]!);
      this.#weights[cell] = weight;
      sum += weight;
    }
    for (let cell = 0; cell < CELLS; cell++) this.#weights[cell]! /= sum;
  }

  /** The cell around which most weight lies, counted within a second with linearly falling weight. */
  #best(): number {
    let best = 0;
    let most = -1;
    for (let cell = 0; cell < CELLS; cell++) {
      let sum = 0;
      for (let offset = -4; offset <= 4; offset++) {
        sum += this.#weights[modulo(cell + offset, CELLS)]! * (5 - Math.abs(offset));
      }
      if (sum > most) {
        most = sum;
        best = cell;
      }
    }
    return best;
  }
}

function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}

/** Lifts each value to at least `MAX_LOG_ODDS` under the greatest; returns ln of the sum of their exponentials. */
function keepInReach(values: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]!);
  for (let i = 0; i < values.length; i++) values[i] = Math.max(values[i]!, most - MAX_LOG_ODDS);
  return logSum(values);
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
