/** Means and tail means of samples and of their resamples. */

import { quantile } from '../../../abr/statistics/distributions.ts';

/** Arithmetic mean; NaN for an empty sample. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/** The mean of each named value over the rows. */
export function meansOf<Name extends string>(rows: readonly Record<Name, number>[], names: readonly Name[]) {
  const means = names.map((name) => [name, mean(rows.map((row) => row[name]))]);
  return Object.fromEntries(means) as Record<Name, number>;
}

/** Quantiles of the decisions' durations; `{}` without decisions. */
export function decisionMicros(millis: readonly number[]): { decisionMicros?: { p50: number; p99: number } } {
  if (millis.length === 0) return {};
  const ascending = Float64Array.from(millis, (ms) => ms * 1000).sort();
  return { decisionMicros: { p50: quantile(ascending, 0.5), p99: quantile(ascending, 0.99) } };
}

const TAIL_SHARE = 0.05;

/** The number of values in the tail of a sample: ceil(5 %). */
export function tailSize(size: number): number {
  return Math.ceil(TAIL_SHARE * size - 1e-9);
}

export function tailMean(ascending: Float64Array): number {
  return mean(ascending.subarray(ascending.length - tailSize(ascending.length)));
}

/** Statistics of resamples, in which all values of unit u count `counts[u]` times. Sorts only once. */
export class UnitSample {
  private readonly _descending: Float64Array;
  private readonly _unitOfDescending: Uint32Array;
  private readonly _unitSums: Float64Array;
  private readonly _unitSizes: Float64Array;

  constructor(values: ArrayLike<number>, unitOf: ArrayLike<number>, unitCount: number) {
    const order = Uint32Array.from({ length: values.length }, (_, index) => index);
    order.sort((a, b) => values[b]! - values[a]!);
    this._descending = Float64Array.from(order, (index) => values[index]!);
    this._unitOfDescending = Uint32Array.from(order, (index) => unitOf[index]!);
    this._unitSums = new Float64Array(unitCount);
    this._unitSizes = new Float64Array(unitCount);
    for (let i = 0; i < values.length; i++) {
      this._unitSums[unitOf[i]!]! += values[i]!;
      this._unitSizes[unitOf[i]!]! += 1;
    }
  }

  sizeOf(counts: ArrayLike<number>): number {
    let size = 0;
    for (let unit = 0; unit < this._unitSizes.length; unit++) size += counts[unit]! * this._unitSizes[unit]!;
    return size;
  }

  /** NaN for an empty resample, as the other statistics. */
  mean(counts: ArrayLike<number>): number {
    let sum = 0;
    for (let unit = 0; unit < this._unitSums.length; unit++) sum += counts[unit]! * this._unitSums[unit]!;
    return sum / this.sizeOf(counts);
  }

  tailMean(counts: ArrayLike<number>): number {
    const { _descending: descending, _unitOfDescending: unitOfDescending } = this;
    const size = tailSize(this.sizeOf(counts));
    let left = size;
    let sum = 0;
    for (let i = 0; i < descending.length && left > 0; i++) {
      const taken = Math.min(left, counts[unitOfDescending[i]!]!);
      sum += taken * descending[i]!;
      left -= taken;
    }
    return sum / size;
  }
}
