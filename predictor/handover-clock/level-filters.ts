/**
 * The evidence: one robust Kalman filter of the log rate per hypothesis on where the handovers are, and some without
 * handovers. A hypothesis gains where the level changes, after a dip, at its moments and keeps steady elsewhere.
 *
 * Local-level model (Harvey 1989, section 2.3) in units of the session's own volatility, so that nothing depends on the
 * link's rate or restlessness: the level is a random walk that takes an extra step at each boundary of the hypothesis; a
 * bin's log rate is the level, less a dip in the first moments after a boundary, plus noise. Innovations have Cauchy
 * tails: outages and steps of another cause are frequent.
 */

import type { RateBin } from './rate-bins.ts';
import { Repeats } from './repeats.ts';

export const EPOCH_SECONDS = 15;
/** Hypotheses on the boundary's position in the epoch, 0.25 s apart. */
export const CELLS = 60;

/** Variances are in units of the session's volatility squared. */
export interface LevelParameters {
  /** Variance that the level gains per second. */
  drift: number;
  /** Variance that the level gains at a boundary. */
  jump: number;
  /** Variance of a second's log rate around the level. */
  noise: number;
  /** More of it for a bin of less than a second: times (1 / seconds - 1). */
  shortNoise: number;
  /** Extra variance of a bin that lies in the dip. */
  dipNoise: number;
  /** How far the log rate is lower in the dip, in volatilities. */
  dipDepth: number;
  /** How long the dip lasts. */
  dipSeconds: number;
  /** From the boundary to its showing in what arrives; negative where the whole second before shows it. */
  lagSeconds: number;
  /** How far ln rate may fall under its long mean (absolute): outages count as this. */
  floor: number;
  /** Least volatility of a LEO link: a quieter one has no epochs to see. */
  leastVolatility: number;
  /** Hypotheses without epochs: drift and noise of each. */
  steady: readonly (readonly [drift: number, noise: number])[];
  /** Hypotheses of a link that repeats itself, by period. */
  repeatSeconds: readonly number[];
}

/** Volatility (standard deviation of ln rate) of a session before anything is known of it. */
const FIRST_VOLATILITY = 0.15;
/** Timers alone make so much. */
const LEAST_VOLATILITY = 0.003;
/** Bins over which the volatility is learnt, and the mean rate. */
const VOLATILITY_BINS = 12;
const MEAN_BINS = 60;

export class LevelFilters {
  /** ln density of the last bin, up to a common constant: per cell, per steady hypothesis, per repeating one. */
  readonly logDensities: Float64Array;
  readonly #parameters: LevelParameters;
  readonly #levels: Float64Array;
  readonly #variances: Float64Array;
  readonly #repeats: readonly Repeats[];
  #meanLogRate = 0;
  #volatility = FIRST_VOLATILITY;
  #bins = 0;
  #lastSeconds = 0;

  constructor(parameters: LevelParameters) {
    this.#parameters = parameters;
    const count = CELLS + parameters.steady.length;
    this.#levels = new Float64Array(count);
    this.#variances = new Float64Array(count);
    this.#repeats = parameters.repeatSeconds.map((lag) => new Repeats(lag));
    this.logDensities = new Float64Array(count + this.#repeats.length);
  }

  /** Weighs one bin. Cell c says that boundaries are at session second `c * 15 / CELLS` and every 15 s. */
  observe(bin: RateBin): void {
    const p = this.#parameters;
    const atSeconds = (bin.startSeconds + bin.endSeconds) / 2 - p.lagSeconds;
    const elapsed = atSeconds - this.#lastSeconds;
    this.#lastSeconds = atSeconds;
    if (this.#bins === 0) this.#meanLogRate = bin.logRate;
    const logRate = Math.max(bin.logRate, this.#meanLogRate - p.floor);
    this.#bins++;
    this.#meanLogRate += (logRate - this.#meanLogRate) / Math.min(this.#bins, MEAN_BINS);
    if (this.#bins === 1 || elapsed < 0) {
      this.#levels.fill(logRate);
      this.#variances.fill(p.noise);
      this.logDensities.fill(0);
      for (const repeats of this.#repeats) repeats.observe(bin);
      return;
    }
    const seconds = Math.min(1, Math.max(0.1, bin.busySeconds));
    const shortNoise = p.shortNoise * (1 / seconds - 1);
    const volatility = Math.max(this.#volatility, p.leastVolatility);
    for (let cell = 0; cell < CELLS; cell++) {
      const epochs = atSeconds / EPOCH_SECONDS - cell / CELLS;
      const crossed = Math.floor(epochs) !== Math.floor(epochs - elapsed / EPOCH_SECONDS);
      const middle = (epochs - Math.floor(epochs)) * EPOCH_SECONDS;
      let dip = overlap(middle, seconds, p.dipSeconds);
      if (middle + seconds / 2 > EPOCH_SECONDS) dip += overlap(middle - EPOCH_SECONDS, seconds, p.dipSeconds);
      const variance = this.#variances[cell]! + p.drift * elapsed + (crossed ? p.jump : 0);
      const innovation = logRate + p.dipDepth * dip * volatility - this.#levels[cell]!;
      this.#update(cell, { variance, noise: p.noise + shortNoise + p.dipNoise * dip, innovation, volatility });
    }
    this.#observeSteady(bin, { logRate, elapsed, shortNoise });
  }

  #observeSteady(bin: RateBin, at: { logRate: number; elapsed: number; shortNoise: number }): void {
    const { steady } = this.#parameters;
    const volatility = this.#volatility;
    let squared = 0;
    for (let i = CELLS; i < CELLS + steady.length; i++) {
      const [drift, noise] = steady[i - CELLS]!;
      const variance = this.#variances[i]! + drift * at.elapsed;
      const innovation = at.logRate - this.#levels[i]!;
      const result = this.#update(i, { variance, noise: noise + at.shortNoise, innovation, volatility });
      if (i === CELLS) squared = result;
    }
    const first = CELLS + steady.length;
    for (let i = 0; i < this.#repeats.length; i++) {
      this.logDensities[first + i] = this.#repeats[i]!.observe(bin) ?? this.logDensities[CELLS]!;
    }
    // A median, tracked: steps do not count for more than their number.
    const step = Math.max(1 / this.#bins, 1 / VOLATILITY_BINS);
    this.#volatility = Math.max(LEAST_VOLATILITY, volatility * Math.exp(squared > 1 ? step : -step));
  }

  /** One step of one filter; returns the squared innovation in units of what was expected. */
  #update(i: number, step: { variance: number; noise: number; innovation: number; volatility: number }): number {
    const { variance, innovation, volatility } = step;
    const expected = variance + step.noise;
    const squared = innovation ** 2 / (expected * volatility ** 2);
    // The innovation's Cauchy density; one logarithm instead of two.
    this.logDensities[i] = -Math.log(Math.sqrt(expected) * (1 + squared) * volatility);
    const gain = (variance / expected) * Math.min(1, 2 / (1 + squared));
    this.#levels[i]! += gain * innovation;
    this.#variances[i] = variance * (1 - gain);
    return squared;
  }
}

/** Share of a bin of `seconds` around `middle` that lies in [0, until]. */
function overlap(middle: number, seconds: number, until: number): number {
  const from = Math.max(0, middle - seconds / 2);
  return Math.max(0, Math.min(until, middle + seconds / 2) - from) / seconds;
}
