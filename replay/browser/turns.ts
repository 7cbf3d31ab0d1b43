/** The order in which sessions are played: the algorithms take turns, so that none has a fixed place in a batch. */

import { groupBy } from '../evaluation/group-by.ts';
import type { PlannedSession } from '../evaluation/plan/plan.ts';

/** Rotates the algorithms of each start by one more than at the previous start. */
export function inTurns<T extends Pick<PlannedSession, 'trace' | 'startSeconds'>>(sessions: readonly T[]): T[] {
  const traces = [...new Set(sessions.map(({ trace }) => trace))];
  const starts = groupBy(sessions, ({ trace, startSeconds }) => `${traces.indexOf(trace)} ${startSeconds}`);
  return [...starts.values()].flatMap((group, turn) => {
    const shift = turn % group.length;
    return [...group.slice(shift), ...group.slice(0, shift)];
  });
}
