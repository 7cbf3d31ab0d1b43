/** Quantiles of Student's t distribution, also for fractional degrees of freedom. */

/** More degrees count as this many: the 97.5 % quantile is within 0.003 of the limit. */
const MOST_DEGREES = 1000;
const STEPS = 1000;

/** The t with P(T <= t) = `probability`; with t = sqrt(degrees) tan(a) the density is a power of cos(a). */
export function studentQuantile(probability: number, degrees: number): number {
  const v = Math.min(degrees, MOST_DEGREES);
  const width = Math.PI / 2 / STEPS;
  const density = (step: number) => Math.cos((step + 0.5) * width) ** (v - 1);
  let total = 0;
  for (let step = 0; step < STEPS; step++) total += density(step);
  const wanted = (2 * probability - 1) * total;
  let sum = 0;
  for (let step = 0; step < STEPS; step++) {
    const next = sum + density(step);
    if (next >= wanted) return Math.sqrt(v) * Math.tan((step + (wanted - sum) / (next - sum)) * width);
    sum = next;
  }
  return Number.POSITIVE_INFINITY;
}
