/** Means of differences between two sets of sessions or households that were played at the same places. */

import type { Estimate, ResampledBy, SessionResult } from '../results.ts';
import { meansWithInterval } from './bootstrap.ts';
import { type DatasetUnits, resamplingUnits } from './resampling-units.ts';

/** Of pairs. */
export interface PairedSample {
  pairs: number;
  resampledBy: ResampledBy;
  /** Number of units with pairs. */
  units: number;
}

/**
 * The mean of each of `valuesOf`, own minus baseline, over the pairs with the same `keyOf`; undefined without pairs.
 * `ways` is `unitsByDataset` of all sessions. Cost: resamples x units.
 */
export function pairedDifferences<T extends Pick<SessionResult, 'dataset' | 'trace' | 'group'>, Name extends string>(
  own: readonly T[],
  baseline: readonly T[],
  options: {
    keyOf(one: T): string;
    valuesOf(one: T): Readonly<Record<Name, number>>;
    ways: ReadonlyMap<string, DatasetUnits>;
    /** Of the resamples. */
    seed: number;
  },
): (PairedSample & Record<Name, Estimate>) | undefined {
  const { keyOf, valuesOf, ways, seed } = options;
  const baselineAt = new Map(baseline.map((one) => [keyOf(one), one]));
  const paired = own.filter((one) => baselineAt.has(keyOf(one)));
  if (paired.length === 0) return undefined;
  const { unitOf, unitCount, resampledBy } = resamplingUnits(paired, ways);
  const values = paired.map((one) => ({ own: valuesOf(one), other: valuesOf(baselineAt.get(keyOf(one))!) }));
  const samples = Object.fromEntries(
    (Object.keys(values[0]!.own) as Name[]).map((name) => [
      name,
      values.map((pair) => pair.own[name] - pair.other[name]),
    ]),
  ) as Record<Name, number[]>;
  const units = { unitOf: paired.map(unitOf), unitCount, seed };
  return { pairs: paired.length, units: unitCount, resampledBy, ...meansWithInterval(samples, units) };
}
