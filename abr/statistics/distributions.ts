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

/* The standard normal distribution, because ranks are correlated as normal scores. */

/** Phi(x) by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.3275911 * (Math.abs(x) / Math.SQRT2));
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - poly * Math.exp((-x * x) / 2);
  return x >= 0 ? 0.5 * (1 + erf) : 0.5 * (1 - erf);
}

/** The inverse of Phi on (0, 1) by Acklam's rational approximation (relative error below 1.2e-9). */
export function normalQuantile(p: number): number {
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return Number.POSITIVE_INFINITY;
  const tail = 0.02425;
  if (p < tail) return -upperTail(Math.sqrt(-2 * Math.log(p)));
  if (p > 1 - tail) return upperTail(Math.sqrt(-2 * Math.log(1 - p)));
  const q = p - 0.5;
  const r = q * q;
  const numerator =
    (((((-3.969683028665376e1 * r + 2.209460984245205e2) * r - 2.759285104469687e2) * r + 1.38357751867269e2) * r -
      3.066479806614716e1) *
      r +
      2.506628277459239) *
    q;
  const denominator =
    ((((-5.447609879822406e1 * r + 1.615858368580409e2) * r - 1.556989798598866e2) * r + 6.680131188771972e1) * r -
      1.328068155288572e1) *
      r +
    1;
  return numerator / denominator;
}

function upperTail(q: number): number {
  const numerator =
    ((((-7.784894002430293e-3 * q - 3.223964580411365e-1) * q - 2.400758277161838) * q - 2.549732539343734) * q +
      4.374664141464968) *
      q +
    2.938163982698783;
  const denominator =
    (((7.784695709041462e-3 * q + 3.224671290700413e-1) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1;
  return -numerator / denominator;
}
