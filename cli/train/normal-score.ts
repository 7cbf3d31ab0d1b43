/** Where a value lies among quantiles. */

import { normalQuantile } from '../../abr/mpc-l/normal-distribution.ts';

/** Normal score of a value among quantiles at levels: linear between them, and beyond them by the outermost two. */
export function normalScore(quantiles: ArrayLike<number>, levels: readonly number[], value: number): number {
  let i = 1;
  while (i < levels.length - 1 && value > quantiles[i]!) i++;
  const low = quantiles[i - 1]!;
  const [from, to] = [normalQuantile(levels[i - 1]!), normalQuantile(levels[i]!)];
  const width = quantiles[i]! - low;
  // Quantiles that coincide (at a floor) hold all that coincides with them.
  if (!(width > 0)) return value < low ? Number.NEGATIVE_INFINITY : value > low ? Number.POSITIVE_INFINITY : to;
  return from + ((to - from) * (value - low)) / width;
}
