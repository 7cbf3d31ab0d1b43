import { expect, test } from '@jest/globals';
import type { SessionResult } from '../results.ts';
import { testLiveMetrics, testScenario, testSession } from './test-sessions.fixture.ts';
import { withTraceEnd } from './trace-end.ts';

const scenario = testScenario();
const pastTrace = (session: SessionResult, durationSeconds: number) =>
  withTraceEnd(session, { durationSeconds }, scenario).pastTraceSeconds;

/** Its only download ends at 51 s. */
const session = testSession({
  segments: [{ ...testSession().segments[0]!, requestedAtSeconds: 49, downloadSeconds: 2 }],
});

test('a session that ends within its trace is unchanged', () => {
  expect(withTraceEnd(session, { durationSeconds: 60 }, scenario)).toBe(session);
  expect(pastTrace({ ...session, startSeconds: 9 }, 60)).toBeUndefined();
});

test('counts from the second at which the trace begins again', () => {
  // A trace of 59 s begins again at 45 s.
  expect(pastTrace(session, 59)).toBeCloseTo(6, 9);
  expect(pastTrace({ ...session, startSeconds: 10 }, 60)).toBeCloseTo(1, 9);
});

test('a player of a household counts from its join', () => {
  const household = { name: 'two', algorithm: 'mpc-d', player: 1, joinSeconds: 10.5, linkUtilisation: 1 };
  expect(pastTrace({ ...session, household }, 60)).toBeCloseTo(1.5, 9);
});

test('a session that was cut off ends at its cutoff', () => {
  // One segment of 4 s, and 600 s of waiting.
  const cut = { ...session, endedBy: 'cutoff' as const, startupSeconds: 20, stallSeconds: 580 };
  expect(pastTrace(cut, 60)).toBeCloseTo(544, 9);
  expect(pastTrace({ ...cut, segments: [] }, 60)).toBeCloseTo(540, 9);
});

test('a live session ends with its encoder, which browsers notice somewhat later', () => {
  const live = (watchedSeconds: number) => ({
    ...session,
    startupSeconds: 1,
    live: testLiveMetrics({ watchedSeconds }),
  });
  expect(pastTrace(live(59.4), 60)).toBeUndefined();
  expect(pastTrace(live(60), 60)).toBeCloseTo(1, 9);
});
