/**
 * The hypothesis of a periodic link: a shaper, a scheduler or a test's square wave whose period divides the lag may
 * also step every 15 s, but returns to the same rates, unlike satellites.
 */

import { BIN_SECONDS } from './rate-bins.ts';
import type { Measurement } from './state-filters.ts';

/** Periods of periodic links. Their divisors are found, too. */
export const REPEAT_SECONDS: readonly number[] = [30, 60, 90];
/** First and least spread of ln rate between a bin and its repetition. */
const FIRST_SPREAD = 0.3;
const LEAST_SPREAD = 0.003;
/** Bins over which the spread is averaged. */
const MEMORY_BINS = 24;

/**
 * Returns the observer for a lag, a multiple of a bin's length. It gives ln density of a bin given the bin a lag
 * before, up to the constant of `stateFilters`; undefined if it is missing.
 */
export function repeatsAfter(lagSeconds: number) {
  /** Middles and values of the bins during the last lag, a slot per `BIN_SECONDS`. */
  const slots = lagSeconds / BIN_SECONDS + 3;
  const times = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
  const values = new Float64Array(slots);
  let spread = FIRST_SPREAD;
  let count = 0;
  const slotAt = (seconds: number) => {
    const slot = Math.floor(seconds / BIN_SECONDS) % slots;
    return slot < 0 ? slot + slots : slot;
  };
  return ({ atSeconds, value }: Measurement): number | undefined => {
    const then = atSeconds - lagSeconds;
    let nearest = BIN_SECONDS;
    let distance: number | undefined;
    for (let offset = -1; offset <= 1; offset++) {
      const slot = slotAt(then + offset * BIN_SECONDS);
      const apart = Math.abs(times[slot]! - then);
      if (apart >= nearest) continue;
      nearest = apart;
      distance = value - values[slot]!;
    }
    times[slotAt(atSeconds)] = atSeconds;
    values[slotAt(atSeconds)] = value;
    if (distance === undefined) return undefined;
    const squared = (distance / spread) ** 2;
    const logDensity = -Math.log(spread * (1 + squared / 3) ** 2);
    // A running median: robust, and quick for an exactly periodic link.
    const step = Math.max(1 / ++count, 1 / MEMORY_BINS);
    spread = Math.max(LEAST_SPREAD, spread * Math.exp(squared > 1 ? step : -step));
    return logDensity;
  };
}
