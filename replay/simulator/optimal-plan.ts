/** proto */
import { type SessionProblem, sumOfPlan } from './optimal-problem.ts';
export function improve(problem: SessionProblem, plan: Uint8Array): number {
  let best = sumOfPlan(problem, plan);
  for (;;) {
    let improved = false;
    for (let k = 0; k < plan.length; k++) for (let len = 1; len <= 3 && k + len <= plan.length; len++) {
      const old = plan.slice(k, k + len);
      let bq = -1;
      for (let q = 0; q < problem.representationCount; q++) {
        for (let j = 0; j < len; j++) plan[k + j] = q;
        const s = sumOfPlan(problem, plan);
        if (s > best + 1e-9) { best = s; bq = q; }
      }
      if (bq >= 0) { improved = true; plan.fill(bq, k, k + len); } else plan.set(old, k);
    }
    if (!improved) return best;
  }
}
