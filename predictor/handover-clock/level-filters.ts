/**
 * The evidence: one robust Kalman filter of a measured level per hypothesis on where the handovers are, and some without
 * handovers. A hypothesis gains where the level changes at its moments and keeps steady elsewhere.
 *
 * Local-level model (Harvey 1989, section 2.3) in units of the session's own volatility, so that nothing depends on the
 * link's rate or restlessness: the level is a random walk that takes an extra step at each boundary of the hypothesis; a
 * measurement is the level, less a dip in the first moments after a boundary, plus noise. Innovations are Student's with
 * 3 degrees of freedom, because outages and steps of another cause are frequent.
 */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';

// Bound once: the loop over the cells is what the clock costs.
const { floor, log, max, min, sqrt } = Math;

/** Hypotheses on the boundary's position in the epoch, 0.25 s apart. */
export const CELLS = 60;

/** One measurement, on the session's clock. */
export interface Level {
  /** The middle of the time that it is the mean of, and the length of that time. */
  atSeconds: number;
  seconds: number;
  /** ln of a rate or of a latency. */
  value: number;
}

/** Variances are in units of the volatility squared. */
export interface LevelParameters {
  /** Variance that the level gains per second. */
  drift: number;
  /** Variance that the level gains at a boundary. */
  jump: number;
  /** Variance of a measurement around the level. */
  noise: number;
  /** How far a measurement inside the dip is lower, in volatilities. */
  dipDepth: number;
  /** How long the dip lasts. */
  dipSeconds: number;
  /** From the boundary to its showing; negative where what was measured with it, before it, is lower too. */
  lagSeconds: number;
  /** Drift and noise of each hypothesis without epochs; the volatility is learnt with the first one's eyes. */
  steady: readonly (readonly [drift: number, noise: number])[];
  /** Volatility (standard deviation of the value) before anything is known. */
  firstVolatility: number;
  /** Measurements over which the volatility is averaged: few, so that restless moments count for less. */
  volatilityMemory: number;
  /** A squared innovation counts in it at most this many times the expected one. */
  volatilityLimit: number;
  /** What a log density counts: measurements are not independent. */
  weight: number;
}

/** Timers alone make so much. */
const LEAST_VOLATILITY = 0.003;

export class LevelFilters {
  /** ln density of the last measurement, up to a common constant: per cell, then per hypothesis without epochs. */
  readonly logDensities: Float64Array;
  readonly #parameters: LevelParameters;
  readonly #levels: Float64Array;
  readonly #variances: Float64Array;
  #volatility: number;
  #count = 0;
  #lastSeconds = 0;

  constructor(parameters: LevelParameters) {
    this.#parameters = parameters;
    this.#volatility = parameters.firstVolatility;
    const hypotheses = CELLS + parameters.steady.length;
    this.#levels = new Float64Array(hypotheses);
    this.#variances = new Float64Array(hypotheses);
    this.logDensities = new Float64Array(hypotheses);
  }

  /** Weighs one measurement. Cell c says that boundaries are at session second `c * 15 / CELLS` and every 15 s. */
  observe({ atSeconds, seconds, value }: Level): void {
    const { drift, jump, noise, dipDepth, dipSeconds, lagSeconds, steady } = this.#parameters;
    const elapsed = atSeconds - this.#lastSeconds;
    this.#lastSeconds = atSeconds;
    if (this.#count++ === 0 || elapsed < 0) {
      this.#levels.fill(value);
      this.#variances.fill(noise);
      this.logDensities.fill(0);
      return;
    }
    const dip = dipDepth * this.#volatility;
    for (let cell = 0; cell < CELLS; cell++) {
      const epochs = (atSeconds - lagSeconds) / EPOCH_SECONDS - cell / CELLS;
      const crossed = floor(epochs) !== floor(epochs - elapsed / EPOCH_SECONDS);
      const middle = (epochs - floor(epochs)) * EPOCH_SECONDS;
      // The last bin of an epoch may reach into the next one's dip.
      const share = overlap(middle, seconds, dipSeconds) + overlap(middle - EPOCH_SECONDS, seconds, dipSeconds);
      this.#update(cell, value + dip * share, drift * elapsed + (crossed ? jump : 0), noise);
    }
    let squared = 0;
    for (let i = steady.length - 1; i >= 0; i--) {
      const [ownDrift, ownNoise] = steady[i]!;
      squared = this.#update(CELLS + i, value, ownDrift * elapsed, ownNoise);
    }
    const { volatilityLimit, volatilityMemory } = this.#parameters;
    const change = (min(squared, volatilityLimit) - 1) / min(this.#count, volatilityMemory);
    this.#volatility = max(LEAST_VOLATILITY, this.#volatility * sqrt(1 + change));
  }

  /** One step of one filter; returns the squared innovation over the expected one. */
  #update(i: number, value: number, gained: number, noise: number): number {
    const variance = this.#variances[i]! + gained;
    const expected = variance + noise;
    const innovation = value - this.#levels[i]!;
    const squared = (innovation / this.#volatility) ** 2 / expected;
    // Student's density with 3 degrees of freedom needs but one logarithm.
    this.logDensities[i] = -this.#parameters.weight * log(sqrt(expected) * (1 + squared / 3) ** 2 * this.#volatility);
    const gain = (variance / expected) * min(1, 4 / (3 + squared));
    this.#levels[i]! += gain * innovation;
    this.#variances[i] = variance * (1 - gain);
    return squared;
  }
}

/** Share of the `seconds` around `middle` that lies in [0, until]. */
function overlap(middle: number, seconds: number, until: number): number {
  return max(0, min(until, middle + seconds / 2) - max(0, middle - seconds / 2)) / seconds;
}
