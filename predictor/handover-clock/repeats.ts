/**
 * The hypothesis of a link that repeats itself: a shaper, a scheduler or a test's square wave whose period divides the lag
 * may step every 15 s too, but comes back to the same rates, which satellites do not.
 */

import type { RateBin } from './rate-bins.ts';

/** First and least spread (of ln rate) between a bin and the one that it repeats. */
const FIRST_SPREAD = 0.3;
const LEAST_SPREAD = 0.003;
/** Bins over which the spread is learnt. */
const MEMORY_BINS = 12;

export class Repeats {
  readonly #lagSeconds: number;
  /** Middle and ln rate of the bins of the last lag, one slot per second. */
  readonly #times: Float64Array;
  readonly #logRates: Float64Array;
  #spread = FIRST_SPREAD;
  #bins = 0;

  /** `lagSeconds`: a whole number. */
  constructor(lagSeconds: number) {
    this.#lagSeconds = lagSeconds;
    this.#times = new Float64Array(lagSeconds + 2).fill(Number.NEGATIVE_INFINITY);
    this.#logRates = new Float64Array(lagSeconds + 2);
  }

  /** ln density of the bin given the one a lag before; undefined where there is none. */
  observe(bin: RateBin): number | undefined {
    const slots = this.#times.length;
    const atSeconds = (bin.startSeconds + bin.endSeconds) / 2;
    const then = atSeconds - this.#lagSeconds;
    let nearest = 0.75;
    let distance = Number.NaN;
    for (let second = Math.floor(then) - 1; second <= Math.floor(then) + 1; second++) {
      const slot = second - slots * Math.floor(second / slots);
      if (Math.abs(this.#times[slot]! - then) >= nearest) continue;
      nearest = Math.abs(this.#times[slot]! - then);
      distance = bin.logRate - this.#logRates[slot]!;
    }
    const second = Math.floor(atSeconds);
    const slot = second - slots * Math.floor(second / slots);
    this.#times[slot] = atSeconds;
    this.#logRates[slot] = bin.logRate;
    if (Number.isNaN(distance)) return undefined;
    const squared = (distance / this.#spread) ** 2;
    const logDensity = -Math.log(this.#spread * (1 + squared));
    // A median, tracked: robust, and quick to find a link that repeats itself exactly.
    const step = Math.max(1 / ++this.#bins, 1 / MEMORY_BINS);
    this.#spread = Math.max(LEAST_SPREAD, this.#spread * Math.exp(squared > 1 ? step : -step));
    return logDensity;
  }
}
