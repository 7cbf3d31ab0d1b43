/** Quantiles of Student's t distribution, also for fractional degrees of freedom. */

/** More degrees count as this many: the 97.5 % quantile is within 0.003 of the limit. */
const MOST_DEGREES = 1000;
const STEPS = 1000;

/** The t with P(T <= t) = `probability`; with t = sqrt(degrees) tan(a) the density is a power of cos(a). */
export function studentQuantile(probability: number, degrees: number): number {
  const v = Math.min(degrees, MOST_DEGREES);
  const width = Math.PI / 2 / STEPS;
  const densities = Array.from({ length: STEPS }, (_, step) => Math.cos((step + 0.5) * width) ** (v - 1));
  let rest = (2 * probability - 1) * densities.reduce((sum, density) => sum + density);
  let step = 0;
  while (rest > densities[step]!) rest -= densities[step++]!;
  return Math.sqrt(v) * Math.tan((step + rest / densities[step]!) * width);
}
