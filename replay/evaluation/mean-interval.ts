/** Means of samples with their 95 % intervals over resampled units (bootstrap.ts). */

import type { Estimate } from '../results.ts';
import { effectiveUnits, forEachResample, RESAMPLES, smallSampleStretch, stretchedInterval } from './bootstrap.ts';
import { mean } from './quantiles.ts';

export interface UnitsOfSample {
  /** The unit of each value, below `unitCount`. */
  unitOf: ArrayLike<number>;
  unitCount: number;
  /** Equal seeds give equal resamples, so that means over the same units are paired. */
  seed: number;
}

/**
 * The mean of each sample, all on the same resamples of units; NaN for an empty sample, no interval with fewer than two
 * units with values. A sample has one value per entry of `unitOf`. Cost: resamples x units x samples.
 */
export function meansWithInterval<Name extends string>(
  samples: Readonly<Record<Name, ArrayLike<number>>>,
  { unitOf, unitCount, seed }: UnitsOfSample,
): Record<Name, Estimate> {
  const names = Object.keys(samples) as Name[];
  const sizes = new Float64Array(unitCount);
  for (let i = 0; i < unitOf.length; i++) sizes[unitOf[i]!]! += 1;
  const sums = names.map((name) => {
    const ofUnits = new Float64Array(unitCount);
    for (let i = 0; i < unitOf.length; i++) ofUnits[unitOf[i]!]! += samples[name][i]!;
    return ofUnits;
  });
  const hasInterval = sizes.filter((size) => size > 0).length > 1;
  const resampled = names.map(() => new Float64Array(hasInterval ? RESAMPLES : 0));
  if (hasInterval) {
    forEachResample({ unitCount, seed }, (counts, resample) => {
      let size = 0;
      for (let unit = 0; unit < unitCount; unit++) size += counts[unit]! * sizes[unit]!;
      for (const [n, ofUnits] of sums.entries()) {
        let sum = 0;
        for (let unit = 0; unit < unitCount; unit++) sum += counts[unit]! * ofUnits[unit]!;
        resampled[n]![resample] = sum / size;
      }
    });
  }
  const stretch = smallSampleStretch(effectiveUnits(sizes));
  const estimates = names.map((name, n): [Name, Estimate] => {
    const value = mean(samples[name]);
    return [name, { value, ci95: hasInterval ? stretchedInterval(value, resampled[n]!, stretch) : null }];
  });
  return Object.fromEntries(estimates) as Record<Name, Estimate>;
}
