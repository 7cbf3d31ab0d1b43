/** Confidence intervals by resampling whole units; README.md describes method, sources and coverage. */

import { quantile } from '../../../abr/statistics/distributions.ts';
import { seededRandom } from '../../../abr/statistics/random.ts';
import type { Estimate } from '../../results.ts';
import { studentQuantile } from './student-t.ts';

const RESAMPLES = 4000;

const LEVEL = 0.975;
const NORMAL_QUANTILE = 1.959964;

/**
 * The effective number of units of these sizes: the geometric mean of their number and of Kish's (sum n)^2 / sum n^2.
 * If one unit holds most sessions, the number alone gives too narrow intervals, and Kish's number gives too wide
 * intervals.
 */
export function effectiveUnits(unitSizes: ArrayLike<number>): number {
  let [present, sum, squares] = [0, 0, 0];
  for (let unit = 0; unit < unitSizes.length; unit++) {
    const size = unitSizes[unit]!;
    if (size <= 0) continue;
    present++;
    sum += size;
    squares += size * size;
  }
  return present === 0 ? 0 : Math.sqrt((present * sum * sum) / squares);
}

/** The factor by which an interval from n units is wider than its percentiles: sqrt(n / (n - 1)) t(n - 1) / z. */
function smallSampleStretch(units: number): number {
  const n = Math.max(2, units);
  return (Math.sqrt(n / (n - 1)) * studentQuantile(LEVEL, n - 1)) / NORMAL_QUANTILE;
}

/** The 2.5 % and 97.5 % quantiles, stretched about the estimate; null if 2.5 % are not finite. */
function stretchedInterval(estimate: number, resampled: Float64Array, stretch: number): [number, number] | null {
  const finite = resampled.filter((value) => Number.isFinite(value)).sort();
  if (!Number.isFinite(estimate) || finite.length <= LEVEL * resampled.length) return null;
  return [
    estimate - stretch * Math.max(0, estimate - quantile(finite, 1 - LEVEL)),
    estimate + stretch * Math.max(0, quantile(finite, LEVEL) - estimate),
  ];
}

export interface Resampling {
  /** The unit of each value, below `unitCount`; units without values do not count. */
  unitOf: ArrayLike<number>;
  unitCount: number;
  /** Equal seeds give equal resamples, so that statistics over the same units are paired. */
  seed: number;
  resamples?: number | undefined;
}

/** Estimates with 95 % intervals; none with fewer than two units. `statistics` gets how often each unit counts. */
export function estimates<Name extends string>(
  { unitOf, unitCount, seed, resamples = RESAMPLES }: Resampling,
  statistics: (counts: ArrayLike<number>) => Readonly<Record<Name, number>>,
): Record<Name, Estimate> {
  const unitSizes = new Float64Array(unitCount);
  for (let i = 0; i < unitOf.length; i++) unitSizes[unitOf[i]!]! += 1;
  const point = statistics(new Uint32Array(unitCount).fill(1));
  const names = Object.keys(point) as Name[];
  const hasInterval = unitSizes.filter((size) => size > 0).length > 1;
  const resampled = names.map(() => new Float64Array(hasInterval ? resamples : 0));
  const random = seededRandom(seed);
  const counts = new Uint32Array(unitCount);
  for (let resample = 0; hasInterval && resample < resamples; resample++) {
    counts.fill(0);
    for (let i = 0; i < unitCount; i++) counts[Math.floor(random() * unitCount)]! += 1;
    const values = statistics(counts);
    for (const [n, name] of names.entries()) resampled[n]![resample] = values[name];
  }
  const stretch = smallSampleStretch(effectiveUnits(unitSizes));
  const found = names.map((name, n): [Name, Estimate] => {
    const value = point[name];
    return [name, { value, ci95: hasInterval ? stretchedInterval(value, resampled[n]!, stretch) : null }];
  });
  return Object.fromEntries(found) as Record<Name, Estimate>;
}
