/**
 * Confidence intervals by resampling whole units (recording groups, or recordings): seeded, and widened for the small
 * number of units that a data set has. README.md has the method, its sources and its measured coverage.
 */

import { quantile } from '../../abr/quantile.ts';
import { type Random, seededRandom } from '../random.ts';
import { studentQuantile } from './student-t.ts';

/** Resamples per interval. */
export const RESAMPLES = 4000;

const LEVEL = 0.975;
/** The normal distribution's quantile at `LEVEL`. */
const NORMAL_QUANTILE = 1.959964;

/** Draws `units.length` units with replacement; `counts[u]` says how often unit u came. */
export function drawUnits(counts: Uint32Array, random: Random): void {
  counts.fill(0);
  for (let i = 0; i < counts.length; i++) counts[Math.floor(random() * counts.length)]! += 1;
}

/** Calls `visit` with the counts of each of `resamples` resamples of `unitCount` units; the array is reused. */
export function forEachResample(
  options: { unitCount: number; seed: number; resamples?: number },
  visit: (counts: Uint32Array, resample: number) => void,
): void {
  const { unitCount, seed, resamples = RESAMPLES } = options;
  const random = seededRandom(seed);
  const counts = new Uint32Array(unitCount);
  for (let resample = 0; resample < resamples; resample++) {
    drawUnits(counts, random);
    visit(counts, resample);
  }
}

/**
 * How many equal units are worth as much as units of these sizes: the geometric mean of their number and of Kish's
 * (sum n)^2 / sum n^2. The number alone is too hopeful when one unit holds most sessions, Kish's too cautious.
 */
export function effectiveUnits(unitSizes: ArrayLike<number>): number {
  let sum = 0;
  let squares = 0;
  let present = 0;
  for (let unit = 0; unit < unitSizes.length; unit++) {
    const size = unitSizes[unit]!;
    sum += size;
    squares += size * size;
    if (size > 0) present++;
  }
  return present === 0 ? 0 : Math.sqrt((present * sum * sum) / squares);
}

/** How much wider than its percentiles an interval from n units is made: sqrt(n / (n - 1)) t(n - 1) / z. */
export function smallSampleStretch(units: number): number {
  const n = Math.max(2, units);
  return (Math.sqrt(n / (n - 1)) * studentQuantile(LEVEL, n - 1)) / NORMAL_QUANTILE;
}

/**
 * The 95 % interval of a statistic: the distances from the estimate to the resamples' 2.5 % and 97.5 % quantiles, each
 * stretched by `stretch`. Null when a resample in forty has no value of the statistic (NaN or infinite), because the
 * interval's ends then have none. Sorts `resampled`.
 */
export function stretchedInterval(estimate: number, resampled: Float64Array, stretch: number): [number, number] | null {
  const finite = resampled.filter((value) => Number.isFinite(value)).sort();
  if (!Number.isFinite(estimate) || finite.length <= LEVEL * resampled.length) return null;
  return [
    estimate - stretch * Math.max(0, estimate - quantile(finite, 1 - LEVEL)),
    estimate + stretch * Math.max(0, quantile(finite, LEVEL) - estimate),
  ];
}
