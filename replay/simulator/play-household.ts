/** Plays the sessions of a household together on one link. */

import { type Household, segmentsOfPlayer } from '../households.ts';
import { SharedLink } from '../link/shared-link.ts';
import type { SessionResult } from '../results.ts';
import type { SessionTask, SimulatedAlgorithm } from './algorithms.ts';
import { pageLinkOf } from './session-setup.ts';

/** A result per player; player n has the seed + n. Always the session that is due first continues. */
export function playHousehold(
  { players, traffic, name }: Household,
  task: Omit<SessionTask, 'access'>,
  { algorithm, algorithmOf }: { algorithm: string; algorithmOf(name: string): SimulatedAlgorithm },
): SessionResult[] {
  const { trace, scenario, startSeconds } = task;
  const shared = new SharedLink();
  const link = pageLinkOf(trace, scenario).from(startSeconds);
  for (const one of traffic) shared.addTraffic(link, one);
  const seated = players.map((player, index) => {
    const { joinSeconds: offsetSeconds } = player;
    const access = shared.access(offsetSeconds);
    const session = algorithmOf(player.algorithm ?? algorithm)({
      ...task,
      startSeconds: startSeconds + offsetSeconds,
      segmentCount: segmentsOfPlayer(player, task),
      seed: (task.seed + index) >>> 0,
      access,
    });
    return { session, access, untilSeconds: offsetSeconds, result: undefined as SessionResult | undefined };
  });
  for (;;) {
    let due: (typeof seated)[number] | undefined;
    let dueSeconds = Number.POSITIVE_INFINITY;
    for (const one of seated) {
      const seconds = Math.min(one.untilSeconds, one.access.flightEndsAtSeconds);
      if (one.result !== undefined || seconds >= dueSeconds) continue;
      due = one;
      dueSeconds = seconds;
    }
    if (due === undefined) break;
    const changeSeconds = shared.nextChangeSeconds();
    // A change may move the ends of flights.
    shared.advanceTo(Math.min(changeSeconds, dueSeconds));
    if (changeSeconds <= dueSeconds) continue;
    const { done, value } = due.session.next();
    const { access } = due;
    if (!done) due.untilSeconds = access.offsetSeconds + value;
    else {
      due.result = value;
      // After a fault.
      if (access.flight) access.end(shared.nowSeconds - access.offsetSeconds);
    }
  }
  const linkUtilisation = shared.utilisation(link, shared.nowSeconds);
  return seated.map(({ result, access: { offsetSeconds } }, player) => ({
    ...result!,
    startSeconds,
    household: { name, algorithm, player, joinSeconds: offsetSeconds, linkUtilisation },
  }));
}
