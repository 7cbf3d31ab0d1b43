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
  const poly = t * polynomial(t, 1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592);
  const erf = 1 - poly * Math.exp((-x * x) / 2);
  return x >= 0 ? 0.5 * (1 + erf) : 0.5 * (1 - erf);
}

/** The inverse of Phi on (0, 1) by Acklam's rational approximation (relative error below 1.2e-9), in 11 digits. */
export function normalQuantile(p: number): number {
  const tail = 0.02425;
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p > 1 - tail) return -normalQuantile(1 - p);
  if (p < tail) {
    const q = Math.sqrt(-2 * Math.log(p));
    return (
      polynomial(q, -0.0077848940024, -0.32239645804, -2.4007582772, -2.5497325393, 4.3746641415, 2.9381639827) /
      polynomial(q, 0.007784695709, 0.32246712907, 2.4451341371, 3.7544086619, 1)
    );
  }
  const q = p - 0.5;
  const r = q * q;
  return (
    (q * polynomial(r, -39.696830287, 220.94609842, -275.92851045, 138.35775187, -30.664798066, 2.5066282775)) /
    polynomial(r, -54.476098798, 161.58583686, -155.69897986, 66.801311888, -13.280681553, 1)
  );
}

/** `coefficients`: of the highest power first. */
function polynomial(x: number, ...coefficients: number[]): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient);
}
