/** Sums over the weights of hypotheses. */

/** Positions stay above this share of the likeliest, so that a leap is found within a few epochs. */
export const LEAST_SHARE = Math.exp(-7);

/** Raises each weight to at least `LEAST_SHARE` of the greatest, and scales them to add up to `total`. */
export function normalise(weights: Float64Array, total: number): void {
  const least = LEAST_SHARE * greatest(weights);
  for (let i = 0; i < weights.length; i++) if (weights[i]! < least) weights[i] = least;
  scale(weights, total / sum(weights));
}

export function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The greatest value, at least 0. */
export function greatest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

export function scale(values: Float64Array, factor: number): void {
  for (let i = 0; i < values.length; i++) values[i]! *= factor;
}

export function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}
