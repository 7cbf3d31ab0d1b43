/**
 * The rank chain: how the rank of capacity changes from one segment to the next. A forecast's rank correlation links
 * the ranks of successive times (a Gaussian copula). Ranks in bins of equal probability form a Markov chain, on which a
 * plan with recourse can be computed exactly.
 */

import { normalCdf, normalQuantile } from '../statistics/normal-distribution.ts';

/** Normal score in the middle of each of `bins` bins of equal probability. */
export function binScores(bins: number): Float64Array {
  return Float64Array.from({ length: bins }, (_, i) => normalQuantile((i + 0.5) / bins));
}

/** Extra weight of the worst outcomes. */
export interface TailWeight {
  /** 0: mean only, 1: tail only. */
  weight: number;
  /** Share of the probability in the tail, in (0, 1]. */
  tail: number;
}

/**
 * Transition probabilities `[from * bins + to]` for a rank correlation in [0, 1); rows add up to 1. A tail weight
 * raises the lowest ranks: a row becomes (1 - weight) of itself plus weight of its lowest `tail` share. If an outcome
 * improves with the rank, this is the mixture of its mean and its conditional value at risk.
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
