/** How hard the places of a benchmark are: thirds of each data set by the baseline's own QoE there. */

import type { SessionResult } from '../results.ts';
import { placeKey } from './plan.ts';

/** From the third in which the baseline does worst to the one in which it does best. */
export const DIFFICULTIES = ['hard', 'middle', 'easy'] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];

/** With fewer places than this a data set is not divided. */
export const FEWEST_PLACES = 6;

type Place = Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds' | 'algorithm'> & { qoe: { linear: number } };

/**
 * The difficulty of each place (`placeKey`) that the baseline has played, within its data set: equal thirds by QoE-linear,
 * the middle one taking what is left over; ties by trace and start. Data sets of fewer than `FEWEST_PLACES` are absent.
 *
 * The baseline's luck is in its own QoE: among its worst places are those where it was unlucky, and any other algorithm
 * looks better there than it is (regression to the mean), and worse among its best.
 */
export function difficultyByPlace(sessions: readonly Place[], baseline: string): Map<string, Difficulty> {
  const byDataset = new Map<string, Place[]>();
  for (const session of sessions) {
    if (session.algorithm !== baseline) continue;
    const members = byDataset.get(session.dataset);
    if (members === undefined) byDataset.set(session.dataset, [session]);
    else members.push(session);
  }
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
