/**
 * `optimal`: the best possible session with the whole trace known in advance. README.md describes the search and the
 * distance of its two bounds.
 */

import type { Controller, QoeForm } from '../../abr/index.ts';
import type { QoeForms, SessionResult } from '../results.ts';
import { improvePlan } from './optimal-plan.ts';
import { qoeOfSum, type SessionProblem, type SessionToPlan, sessionProblem } from './optimal-problem.ts';
import { type Search, searchPlans } from './optimal-search.ts';
import { simulateSession } from './simulate-session.ts';

/** The search ends at this difference of the bounds, as a share of the upper one. */
const TARGET_GAP = 0.0025;

/** The least reference of that share, as a share of the top bitrate's QoE, for bounds near 0. */
const LEAST_UNIT_SHARE = 0.01;

/** Grids of the first search; each search divides them by `REFINEMENT`. Powers of 2 are exact. */
const COARSEST = { requestGridSeconds: 1 / 2, waitGridSeconds: 1 / 8 };
const REFINEMENT = 4;
const MOST_SEARCHES = 7;

/**
 * While the bounds differ by more than this, the first searches ignore initialisation segments, for far fewer labels;
 * they cost about one RTT per representation.
 */
const INITIALISATION_GAP = 0.01;
const SEARCHES_WITHOUT_INITIALISATION = 4;

/** The most labels of a search, of about 70 bytes each; more end the refinement. */
const MOST_LABELS = 4_000_000;

/**
 * Plays the best plan for QoE-linear. `qoe` is its QoE, the lower bound of the optimum; `qoeUpperBound` bounds all
 * sessions, whatever they decide or abandon, with a search per form of QoE. In the named scenarios the bounds of
 * QoE-linear differ by at most 1 % of the upper one (or of 1 % of the top bitrate's QoE, if that is larger); hundreds
 * of segments with a long ladder and a large buffer may give more. `seed` is only copied to the result.
 */
export function optimalSession(task: SessionToPlan & { seed: number }): SessionResult {
  const { trace, scenario, startSeconds, segmentCount, seed } = task;
  const session = { trace, scenario, startSeconds, segmentCount };
  const problem = sessionProblem(session, 'linear');
  const optimum = findOptimum(problem);
  const result = simulateSession({
    ...session,
    seed,
    algorithm: 'optimal',
    controller: planController(optimum.plan),
  });
  const expected = qoeOfSum(problem, optimum.reachedSum);
  if (!(Math.abs(result.qoe.linear - expected) <= 1e-6 * (1 + Math.abs(expected)))) {
    throw new Error(
      `optimal: expected the plan's QoE of ${expected} in the simulator, ` +
        `got ${result.qoe.linear} on ${trace.name} at ${startSeconds} s`,
    );
  }
  const upperBound = (form: QoeForm): number | null => {
    const ofForm = form === 'linear' ? problem : sessionProblem(session, form);
    if (ofForm === undefined) return null;
    const { upperBoundSum } = form === 'linear' ? optimum : findOptimum(ofForm, optimum.plan);
    // The two computations may differ in the last digits.
    return Math.max(qoeOfSum(ofForm, upperBoundSum), result.qoe[form]!);
  };
  const qoeUpperBound: QoeForms = { linear: upperBound('linear')!, log: upperBound('log')!, hd: upperBound('hd') };
  return { ...result, qoeUpperBound };
}

/** The bounds of the optimum, as sums of the problem. */
interface Optimum {
  reachedSum: number;
  upperBoundSum: number;
  /** A representation per segment. */
  plan: Uint8Array;
}

/**
 * Searches on finer and finer grids until the bounds are within `TARGET_GAP`. Each search drops labels that the
 * previous one has shown to be worse than the best known plan. `knownPlan` is the first plan.
 */
export function findOptimum(problem: SessionProblem, knownPlan?: Uint8Array): Optimum {
  const topSum = problem.segmentCount * problem.gains[problem.representationCount - 1]!;
  const leastUnit = LEAST_UNIT_SHARE * topSum;
  let plan: Uint8Array = knownPlan?.slice() ?? new Uint8Array(problem.segmentCount);
  let reachedSum = improvePlan(problem, plan);
  let upperBoundSum = Number.POSITIVE_INFINITY;
  let guide: Search | undefined;
  let ignoreInitialisation = true;
  let gridFactor = 1;
  for (let searches = 0; searches < MOST_SEARCHES; ) {
    const search = searchPlans(problem, {
      requestGridSeconds: COARSEST.requestGridSeconds * gridFactor,
      waitGridSeconds: COARSEST.waitGridSeconds * gridFactor,
      ignoreInitialisation,
      knownSum: reachedSum,
      mostLabels: MOST_LABELS,
      ...(guide && { guide }),
    });
    if (search === undefined) {
      // The first search needs a coarser grid, because a bound is required.
      if (guide !== undefined) break;
      gridFactor *= REFINEMENT;
      continue;
    }
    searches++;
    upperBoundSum = Math.min(upperBoundSum, search.upperBoundSum);
    if (search.plan !== undefined) {
      const sum = improvePlan(problem, search.plan);
      if (sum > reachedSum) {
        reachedSum = sum;
        plan = search.plan;
      }
    }
    const gap = (upperBoundSum - reachedSum) / Math.max(Math.abs(upperBoundSum), leastUnit);
    if (!(gap > TARGET_GAP)) break;
    if (gap <= INITIALISATION_GAP || searches >= SEARCHES_WITHOUT_INITIALISATION) ignoreInitialisation = false;
    guide = search;
    gridFactor /= REFINEMENT;
  }
  return { reachedSum, upperBoundSum, plan };
}

function planController(plan: Uint8Array): Controller {
  return {
    name: 'optimal',
    decide: ({ segmentIndex }) => ({
      representation: plan[segmentIndex]!,
      controller: 'optimal',
      reason: 'offline optimum of the whole session',
    }),
  };
}
