import { expect, test } from '@jest/globals';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import { testSession, testTrace } from '../evaluation/test-sessions.fixture.ts';
import { HOUSEHOLDS } from '../households.ts';
import type { RequestLogEntry } from '../origin/index.ts';
import { resolveScenario } from '../scenario-file.ts';
import { liveSessionSeconds, SCENARIOS } from '../scenarios.ts';
import type { PlayedRecord } from './record/session-record.ts';
import { inHousehold, seatsOf } from './seats.ts';

const scenario = resolveScenario(SCENARIOS['hd-16']!);
const place = { trace: testTrace('t', 45), startSeconds: 30, segmentCount: 48 };
const alone: PlannedSession = { ...place, algorithm: 'mpc-l', seed: 2 ** 32 - 1 };
const [mixed, late] = ['mixed', 'late-joiner'].map((name) => HOUSEHOLDS[name]!) as [never, never];

test('a session alone has one seat, as planned', () => {
  expect(seatsOf(alone, scenario)).toEqual([{ planned: alone, scenario, joinSeconds: 0 }]);
});

test('players have seats with their algorithms, seeds and what is left to play', () => {
  const seats = seatsOf({ ...alone, household: mixed }, scenario);
  const found = seats.map(({ planned: p, joinSeconds: at }) => `${p.algorithm} ${p.seed} ${p.segmentCount} at ${at}`);
  const seeds = [`mpc-l ${2 ** 32 - 1} 48 at 0`, 'mpc-l 0 47 at 5.3', 'dynamic 1 46 at 9.1', 'dynamic 2 45 at 14.7'];
  expect(found).toEqual(seeds);
  expect(seats.every(({ planned }) => planned.startSeconds === 30)).toBe(true);
});

test('live, all players end with the one encoder', () => {
  const live = resolveScenario(SCENARIOS['live-hd-1']!);
  const planned = { ...alone, segmentCount: live.segmentCount, household: late };
  const ends = seatsOf(planned, live).map(({ planned: { segmentCount }, scenario: own, joinSeconds }) => {
    // Before the join the encoder captured its media before second 0, and the media since then.
    expect(own.live!.timeShiftSeconds).toBeCloseTo(live.live!.timeShiftSeconds + joinSeconds, 9);
    return joinSeconds + liveSessionSeconds({ ...own, live: own.live!, segmentCount });
  });
  for (const end of ends) expect(end).toBeCloseTo(ends[0]!, 9);
});

const seats = seatsOf({ ...alone, household: mixed }, scenario);
const played = (rejected?: string): PlayedRecord[] =>
  seats.map(({ planned, joinSeconds }, player) => {
    const log = (kind: 'init' | 'segment', requestedAtSeconds: number) =>
      ({ kind, requestedAtSeconds }) as RequestLogEntry;
    const result = testSession({ algorithm: planned.algorithm, startSeconds: 30 });
    return {
      ...({ planned, attempt: 1, result } as PlayedRecord),
      originLog: [log('init', joinSeconds), log('segment', joinSeconds + 0.12345678), log('segment', 99)],
      ...(player === 2 && rejected !== undefined && { rejected }),
    };
  });
const seated = (sessions: PlayedRecord[]) =>
  inHousehold(sessions, { household: mixed, given: 'mpc-l', seats, linkUtilisation: 0.5 });

test('a played household has rows with its seats, which join at their first request for a segment', () => {
  const records = seated(played());
  expect(records.map(({ result }) => result.household)).toEqual(
    [0.123457, 5.423457, 9.223457, 14.823457].map((joinSeconds, player) => {
      return { name: 'mixed', algorithm: 'mpc-l', player, joinSeconds, linkUtilisation: 0.5 };
    }),
  );
  expect(records.some((one) => 'rejected' in one)).toBe(false);
  // The last player's download ends 0.8 s after the trace.
  expect(records.map(({ result }) => result.pastTraceSeconds ?? 0)).toEqual([0, 0, 0, 0.823457]);
});

test('a played household is rejected as one', () => {
  expect(seated(played('too late')).map(({ rejected }) => rejected)).toEqual(Array(4).fill('player 2: too late'));
});
