/**
 * `optimal`: the best that could have been done in a session, the whole trace known in advance. README.md says how it is
 * found and how close its two bounds are.
 */

import type { Controller, QoeForm } from '../../abr/index.ts';
import type { QoeForms, SessionResult } from '../results.ts';
import { improvePlan } from './optimal-plan.ts';
import { qoeOfSum, type SessionProblem, type SessionToPlan, sessionProblem } from './optimal-problem.ts';
import { type Search, searchPlans } from './optimal-search.ts';
import { simulateSession } from './simulate-session.ts';

/** Searching ends when the bounds are so close, as a share of the upper one. */
const TARGET_GAP = 0.0025;

/** A bound nearer to 0 than this share of the top bitrate's QoE counts as so far from it: its own share says nothing. */
const LEAST_UNIT_SHARE = 0.01;

/** Grids of the first search; each further one has them divided by `REFINEMENT`. All powers of 2, to be exact. */
const COARSEST = { requestGridSeconds: 1 / 2, waitGridSeconds: 1 / 8 };
const REFINEMENT = 4;
const MOST_SEARCHES = 7;

/**
 * Initialisation segments are ignored, which makes for far fewer labels, while the bounds are further apart than this
 * and grids are coarse; what they take is about one RTT for each representation used.
 */
const INITIALISATION_GAP = 0.01;
const SEARCHES_WITHOUT_INITIALISATION = 4;

/** Labels of a search (some 70 bytes each) beyond which grids are not refined further. */
const MOST_LABELS = 4_000_000;

export interface OptimalSession extends SessionToPlan {
  /** Noted in the result; nothing is drawn. */
  seed: number;
}

/**
 * Plays the best plan for QoE-linear. `qoe` is what it reaches, the lower bound of the optimum; `qoeUpperBound` is what no
 * session exceeds, whatever it decides or abandons, in each form of QoE by a search of its own. In the named scenarios
 * they are at most 1 % of the upper bound apart for QoE-linear (of 1 % of the top bitrate's QoE, where the bound is nearer
 * to 0); hundreds of segments with a long ladder and a large buffer may end with more.
 */
export function optimalSession({ trace, scenario, startSeconds, segmentCount, seed }: OptimalSession): SessionResult {
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
      `optimal: expected the simulator to reach the plan's QoE of ${expected}, got ${result.qoe.linear} on ${trace.name} at ${startSeconds} s`,
    );
  }
  const upperBound = (form: QoeForm): number | null => {
    const ofForm = form === 'linear' ? problem : sessionProblem(session, form);
    if (ofForm === undefined) return null;
    const { upperBoundSum } = form === 'linear' ? optimum : findOptimum(ofForm, optimum.plan);
    // Two ways of adding up the same may differ in the last digits.
    return Math.max(qoeOfSum(ofForm, upperBoundSum), result.qoe[form]!);
  };
  const qoeUpperBound: QoeForms = { linear: upperBound('linear')!, log: upperBound('log')!, hd: upperBound('hd') };
  return { ...result, qoeUpperBound };
}

/** What a plan reaches and what no session exceeds, as sums of the problem. */
export interface Optimum {
  reachedSum: number;
  upperBoundSum: number;
  /** A representation per segment. */
  plan: Uint8Array;
}

/**
 * Searches from coarse to fine until the bounds are within `TARGET_GAP`. A search drops what the one before it has shown
 * not to beat the best plan known, which leaves little for the fine ones. `knownPlan` is where to begin.
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
      // A bound there must be, however coarse.
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
