import { normalQuantile } from '../../abr/normal-distribution.ts';

/** Normal score of a value by quantiles at `levels`: linear between them, extrapolated from the outermost two. */
export function normalScore(quantiles: ArrayLike<number>, levels: readonly number[], value: number): number {
  let i = 1;
  while (i < levels.length - 1 && value > quantiles[i]!) i++;
  const low = quantiles[i - 1]!;
  const [from, to] = [normalQuantile(levels[i - 1]!), normalQuantile(levels[i]!)];
  const width = quantiles[i]! - low;
  // Equal quantiles (at a floor) have no slope: an equal value gets the upper level's score.
  if (!(width > 0)) return value < low ? Number.NEGATIVE_INFINITY : value > low ? Number.POSITIVE_INFINITY : to;
  return from + ((to - from) * (value - low)) / width;
}
