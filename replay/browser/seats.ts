/** The players of a line of the plan: a single player, or a household's with their own joins. */

import { withLinkNotes } from '../evaluation/figures/link-notes.ts';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import { type Household, segmentsOfPlayer } from '../households.ts';
import type { ResolvedScenario } from '../results.ts';
import { roundedSession } from '../session-result.ts';
import type { PlayedRecord } from './record/session-record.ts';

export interface Seat {
  planned: PlannedSession;
  scenario: ResolvedScenario;
  joinSeconds: number;
}

export function seatsOf(planned: PlannedSession, scenario: ResolvedScenario): Seat[] {
  const { household, segmentCount, seed } = planned;
  const { live, segmentSeconds } = scenario;
  if (household === undefined) return [{ planned, scenario, joinSeconds: 0 }];
  return household.players.map((player, index) => {
    const { joinSeconds, algorithm = planned.algorithm } = player;
    const own = segmentsOfPlayer(player, { segmentCount, scenario });
    // All players share one encoder. A late player finds more media that was captured before its join.
    const missed = live ? Math.floor(joinSeconds / segmentSeconds) : 0;
    return {
      planned: { ...planned, algorithm, segmentCount: own + missed, seed: (seed + index) >>> 0 },
      scenario: live
        ? { ...scenario, live: { ...live, timeShiftSeconds: live.timeShiftSeconds + joinSeconds } }
        : scenario,
      joinSeconds,
    };
  });
}

/** Adds the seats to the sessions, which are accepted or rejected together. */
export function inHousehold(
  played: readonly PlayedRecord[],
  options: { household: Household; given: string; seats: readonly Seat[]; linkUtilisation: number },
): PlayedRecord[] {
  const { household, given: algorithm, seats, linkUtilisation } = options;
  const late = played.findIndex(({ rejected }) => rejected !== undefined);
  const rejected = late >= 0 && { rejected: `player ${late}: ${played[late]!.rejected}` };
  return played.map((one, player) => {
    const { scenario, joinSeconds: plannedSeconds } = seats[player]!;
    const first = scenario.live ? undefined : one.originLog.find(({ kind }) => kind === 'segment');
    const joinSeconds = first?.requestedAtSeconds ?? plannedSeconds;
    const seat = { name: household.name, algorithm, player, joinSeconds, linkUtilisation };
    const result = withLinkNotes({ ...one.result, household: seat }, one.planned, scenario);
    return { ...one, ...rejected, result: roundedSession(result) };
  });
}
