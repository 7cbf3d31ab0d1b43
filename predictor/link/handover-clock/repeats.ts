/**
 * The hypothesis of a periodic link: a shaper, a scheduler or a test's square wave whose period divides the lag may
 * also step every 15 s, but returns to the same rates, unlike satellites.
 */

import { BIN_SECONDS } from './rate-bins.ts';
import type { Measurement } from './state-filters.ts';

/** Periods of periodic links; divisors of these are found too. */
export const REPEAT_SECONDS: readonly number[] = [30, 60, 90];
/** First and least spread of ln rate between a bin and its repetition. */
const FIRST_SPREAD = 0.3;
const LEAST_SPREAD = 0.003;
/** Bins over which the spread is averaged. */
const MEMORY_BINS = 24;

export class Repeats {
  readonly #lagSeconds: number;
  /** Middle and value of the bins during the last lag, a slot per `BIN_SECONDS`. */
  readonly #times: Float64Array;
  readonly #values: Float64Array;
  #spread = FIRST_SPREAD;
  #count = 0;

  /** `lagSeconds`: a multiple of a bin's length. */
  constructor(lagSeconds: number) {
    this.#lagSeconds = lagSeconds;
    const slots = lagSeconds / BIN_SECONDS + 3;
    this.#times = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.#values = new Float64Array(slots);
  }

  /** ln density of the bin given the one a lag before (same constant as `StateFilters`); undefined without one. */
  observe({ atSeconds, value }: Measurement): number | undefined {
    const then = atSeconds - this.#lagSeconds;
    let nearest = BIN_SECONDS;
    let distance: number | undefined;
    for (let offset = -1; offset <= 1; offset++) {
      const slot = this.#slot(then + offset * BIN_SECONDS);
      const apart = Math.abs(this.#times[slot]! - then);
      if (apart >= nearest) continue;
      nearest = apart;
      distance = value - this.#values[slot]!;
    }
    this.#times[this.#slot(atSeconds)] = atSeconds;
    this.#values[this.#slot(atSeconds)] = value;
    if (distance === undefined) return undefined;
    const squared = (distance / this.#spread) ** 2;
    const logDensity = -Math.log(this.#spread * (1 + squared / 3) ** 2);
    // A running median: robust, and quick for an exactly periodic link.
    const step = Math.max(1 / ++this.#count, 1 / MEMORY_BINS);
    this.#spread = Math.max(LEAST_SPREAD, this.#spread * Math.exp(squared > 1 ? step : -step));
    return logDensity;
  }

  #slot(seconds: number): number {
    const slots = this.#times.length;
    const slot = Math.floor(seconds / BIN_SECONDS) % slots;
    return slot < 0 ? slot + slots : slot;
  }
}
