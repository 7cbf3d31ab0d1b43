/** Making a plan better by changing it a little: what rounding to grids has cost it is mostly won back here. */

import { type SessionProblem, sumOfPlan } from './optimal-problem.ts';

/** So many segments in a row are changed at once, to the same representation. */
const LONGEST_RUN = 3;

/** A gain that is more than rounding of floating point. */
const LEAST_GAIN = 1e-9;

/**
 * Takes every change of one to `LONGEST_RUN` neighbouring segments that helps, until none does. The plan is changed in
 * place; returns its sum.
 */
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
