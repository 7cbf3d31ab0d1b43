/** Classifies the places of a benchmark by the baseline's QoE: thirds of each data set. */

import type { SessionResult } from '../results.ts';
import { groupBy } from './group-by.ts';
import { placeKey } from './plan.ts';

/** From the third with the baseline's lowest QoE to the one with its highest. */
export const DIFFICULTIES = ['hard', 'middle', 'easy'] as const;
type Difficulty = (typeof DIFFICULTIES)[number];

/** A data set with fewer places is not divided. */
export const FEWEST_PLACES = 6;

type Place = Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds' | 'algorithm'> & { qoe: { linear: number } };

/**
 * The difficulty of each place (`placeKey`) that the baseline has played, within its data set: equal thirds by
 * QoE-linear (the middle one gets the remainder), ties by trace and start. Data sets of fewer than `FEWEST_PLACES` are
 * absent.
 *
 * The baseline's QoE includes its luck. Its worst places are partly unlucky ones, where other algorithms look better
 * than they are (regression to the mean); on its best places they look worse.
 */
export function difficultyByPlace(sessions: readonly Place[], baseline: string): Map<string, Difficulty> {
  const byDataset = groupBy(
    sessions.filter(({ algorithm }) => algorithm === baseline),
    ({ dataset }) => dataset,
  );
  const difficulty = new Map<string, Difficulty>();
  for (const members of byDataset.values()) {
    if (members.length < FEWEST_PLACES) continue;
    const keyed = members
      .map((session) => ({ key: placeKey(session), qoe: session.qoe.linear }))
      .sort((a, b) => a.qoe - b.qoe || (a.key < b.key ? -1 : 1));
    const third = Math.floor(keyed.length / 3);
    for (const [rank, { key }] of keyed.entries()) {
      difficulty.set(key, rank < third ? 'hard' : rank >= keyed.length - third ? 'easy' : 'middle');
    }
  }
  return difficulty;
}
