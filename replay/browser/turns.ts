/** The order in which sessions are played: the algorithms take turns, so that none has a fixed place in a batch. */

import type { PlannedSession } from '../evaluation/plan.ts';

/**
 * Rotates the algorithms of each start (they are neighbours in a plan) by one more than those of the previous start.
 */
export function inTurns<T extends Pick<PlannedSession, 'trace' | 'startSeconds'>>(sessions: readonly T[]): T[] {
  const order: T[] = [];
  let from = 0;
  for (let turn = 0; from < sessions.length; turn++) {
    const { trace, startSeconds } = sessions[from]!;
    let to = from;
    while (to < sessions.length && sessions[to]!.trace === trace && sessions[to]!.startSeconds === startSeconds) to++;
    const group = sessions.slice(from, to);
    const shift = turn % group.length;
    order.push(...group.slice(shift), ...group.slice(0, shift));
    from = to;
  }
  return order;
}
