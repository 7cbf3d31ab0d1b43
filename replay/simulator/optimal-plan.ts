/** Improves a plan by local changes, which regains most of the loss from rounding to grids. */

import { type SessionProblem, sumOfPlan } from './optimal-problem.ts';

/** The most neighbouring segments that are changed at once, to the same representation. */
const LONGEST_RUN = 3;

/** A smaller gain is a rounding error. */
const LEAST_GAIN = 1e-9;

/** Changes up to `LONGEST_RUN` neighbouring segments in place while that increases the sum; returns the sum. */
export function improvePlan(problem: SessionProblem, plan: Uint8Array): number {
  let sum = sumOfPlan(problem, plan);
  for (;;) {
    const before = sum;
    for (let from = 0; from < plan.length; from++) {
      for (let to = from + 1; to <= Math.min(from + LONGEST_RUN, plan.length); to++) {
        const kept = plan.slice(from, to);
        for (let representation = 0; representation < problem.representationCount; representation++) {
          plan.fill(representation, from, to);
          const changed = sumOfPlan(problem, plan);
          if (changed <= sum + LEAST_GAIN) continue;
          sum = changed;
          kept.fill(representation);
        }
        plan.set(kept, from);
      }
    }
    if (sum === before) return sum;
  }
}
