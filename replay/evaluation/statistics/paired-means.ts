/** Means over pairs of sessions or households that were played at the same places, with intervals. */

import type { Estimate, ResampledBy, SessionResult } from '../../results.ts';
import { estimates } from './bootstrap.ts';
import { UnitSample } from './quantiles.ts';
import { type DatasetUnits, resamplingUnits } from './resampling-units.ts';

export interface PairedSample {
  pairs: number;
  resampledBy: ResampledBy;
  units: number;
}

export interface Pairing<T, Name extends string> {
  keyOf(one: T): string;
  /** Values of a pair; see `differences`. */
  valuesOf(one: T, other: T): Record<Name, number>;
  /** `unitsByDataset` of all sessions. */
  ways: ReadonlyMap<string, DatasetUnits>;
  seed: number;
}

/** The mean of each value over the pairs of `own` and `others`; undefined without pairs. Cost: resamples x units. */
export function pairedMeans<T extends Pick<SessionResult, 'dataset' | 'trace' | 'group'>, Name extends string>(
  own: readonly T[],
  others: readonly T[],
  { keyOf, valuesOf, ways, seed }: Pairing<T, Name>,
): (PairedSample & Record<Name, Estimate>) | undefined {
  const otherAt = new Map(others.map((one) => [keyOf(one), one]));
  const paired = own.filter((one) => otherAt.has(keyOf(one)));
  if (paired.length === 0) return undefined;
  const { unitOf: unit, unitCount, resampledBy } = resamplingUnits(paired, ways);
  const unitOf = paired.map(unit);
  const values = paired.map((one) => valuesOf(one, otherAt.get(keyOf(one))!));
  const names = Object.keys(values[0]!) as Name[];
  const samples = names.map((name) => {
    const column = values.map((of) => of[name]);
    return [name, new UnitSample(column, unitOf, unitCount)] as const;
  });
  const means = estimates({ unitOf, unitCount, seed }, (counts) => {
    return Object.fromEntries(samples.map(([name, sample]) => [name, sample.mean(counts)])) as Record<Name, number>;
  });
  return { pairs: paired.length, units: unitCount, resampledBy, ...means };
}

/** For `valuesOf`: the values of the first minus the values of the other. */
export function differences<T, Name extends string>(valuesOf: (one: T) => Record<Name, number>) {
  return (one: T, other: T): Record<Name, number> => {
    const [own, others] = [valuesOf(one), valuesOf(other)];
    const entries = (Object.keys(own) as Name[]).map((name) => [name, own[name] - others[name]]);
    return Object.fromEntries(entries) as Record<Name, number>;
  };
}
