/**
 * The chain of ranks: how good a future is, from one segment to the next.
 *
 * A forecast says how capacity is distributed at each time; its rank correlation says how the rank of one time carries
 * over to the next (a Gaussian copula). Cut into bins of equal probability the ranks are a Markov chain, on which a
 * plan with recourse can be computed exactly.
 */

import { normalCdf, normalQuantile } from './normal-distribution.ts';

/** Normal score in the middle of each of `bins` bins of equal probability. */
export function binScores(bins: number): Float64Array {
  return Float64Array.from({ length: bins }, (_, i) => normalQuantile((i + 0.5) / bins));
}

/** How much the worst outcomes count beside the mean: `weight` on the worst `tail` share of the probability. */
export interface TailWeight {
  /** 0 = mean only, 1 = tail only. */
  weight: number;
  /** Share of the probability that counts as tail, in (0, 1]. */
  tail: number;
}

/**
 * Transition probabilities `[from * bins + to]` for a correlation of ranks in [0, 1), rows adding up to 1. With a tail
 * weight the lowest ranks count more: the row becomes (1 - weight) of itself and weight of its lowest `tail` share,
 * which is the mixture of mean and conditional value at risk for every outcome that improves with the rank.
 */
export function rankTransitions(bins: number, correlation: number, tail: TailWeight): Float64Array {
  const scores = binScores(bins);
  const matrix = new Float64Array(bins * bins);
  const spread = Math.sqrt(1 - correlation * correlation);
  for (let from = 0; from < bins; from++) {
    let below = 0;
    let tailLeft = tail.tail;
    for (let to = 0; to < bins; to++) {
      const upTo =
        to === bins - 1 ? 1 : normalCdf((normalQuantile((to + 1) / bins) - correlation * scores[from]!) / spread);
      const probability = Math.max(0, upTo - below);
      below = upTo;
      const inTail = Math.min(probability, tailLeft);
      tailLeft -= inTail;
      matrix[from * bins + to] = (1 - tail.weight) * probability + (tail.weight * inTail) / tail.tail;
    }
  }
  return matrix;
}
