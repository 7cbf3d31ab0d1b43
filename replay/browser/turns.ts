/** In which order sessions are played, so that no algorithm has a place of its own among those side by side. */

import type { PlannedSession } from '../evaluation/plan.ts';

/** A plan has all algorithms of a start one after the other; from start to start they take turns at being first. */
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
