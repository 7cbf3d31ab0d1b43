/** Quantiles of samples. */

/**
 * The quantile at `level` (0 to 1) of ascending values, linear between order statistics (type 7 of Hyndman and Fan,
 * 1996; the default of R and NumPy). NaN for an empty sample.
 */
export function quantile(ascending: ArrayLike<number>, level: number): number {
  const position = (ascending.length - 1) * level;
  const below = Math.floor(position);
  const value = ascending[below] ?? Number.NaN;
  const next = ascending[below + 1];
  return next === undefined ? value : value + (position - below) * (next - value);
}

/** The median of unordered values; NaN for an empty sample. */
export function median(values: ArrayLike<number>): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

/**
 * Quantiles of weighted, ascending values at ascending levels: the least value up to which the weights sum to the
 * level's share. NaN for an empty sample.
 */
export function weightedQuantiles(
  sorted: readonly { value: number; weight: number }[],
  levels: readonly number[],
): number[] {
  if (sorted.length === 0) return levels.map(() => Number.NaN);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let i = 0;
  let below = sorted[0]!.weight;
  return levels.map((level) => {
    while (below < level * total && i < sorted.length - 1) below += sorted[++i]!.weight;
    return sorted[i]!.value;
  });
}

/** The share of the probability that is nearest to level `i`. */
export function levelShare(levels: readonly number[], i: number): number {
  const low = i === 0 ? 0 : (levels[i - 1]! + levels[i]!) / 2;
  return (i === levels.length - 1 ? 1 : (levels[i]! + levels[i + 1]!) / 2) - low;
}

/** The index of the level that is nearest to `wanted`; the lowest of equally near levels. */
export function nearestLevel(levels: readonly number[], wanted: number): number {
  const distances = levels.map((level) => Math.abs(level - wanted));
  return distances.indexOf(Math.min(...distances));
}

/** The value at `level`, linear between the values at ascending levels (or their scores), constant beyond them. */
export function quantileAt(level: number, levels: readonly number[], values: readonly number[]): number {
  const above = levels.findIndex((one) => one >= level);
  if (above <= 0) return values.slice(above)[0]!;
  const share = (level - levels[above - 1]!) / (levels[above]! - levels[above - 1]!);
  return values[above - 1]! + share * (values[above]! - values[above - 1]!);
}
