/** Quantiles of Student's t distribution, also for fractional degrees of freedom. */

/** From here on the distribution is taken as it is at so many degrees (its 97.5 % quantile is within 0.003 of the limit). */
const MOST_DEGREES = 1000;
const STEPS = 1000;

/**
 * The t with P(T <= t) = `level` (0.5 < level < 1) at `degrees` of freedom (>= 1). With t = sqrt(degrees) tan(a) the
 * density becomes proportional to cos(a)^(degrees - 1), which is integrated by the midpoint rule up to the level.
 */
export function studentQuantile(level: number, degrees: number): number {
  const v = Math.min(degrees, MOST_DEGREES);
  const width = Math.PI / 2 / STEPS;
  const density = (step: number) => Math.cos((step + 0.5) * width) ** (v - 1);
  let total = 0;
  for (let step = 0; step < STEPS; step++) total += density(step);
  const wanted = (2 * level - 1) * total;
  let sum = 0;
  for (let step = 0; step < STEPS; step++) {
    const next = sum + density(step);
    if (next >= wanted) return Math.sqrt(v) * Math.tan((step + (wanted - sum) / (next - sum)) * width);
    sum = next;
  }
  return Number.POSITIVE_INFINITY;
}
