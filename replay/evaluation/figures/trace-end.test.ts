import { expect, test } from '@jest/globals';
import type { SessionResult } from '../../results.ts';
import { testLiveMetrics, testScenario, testSession } from '../test-sessions.fixture.ts';
import { withTraceEnd } from './trace-end.ts';

const scenario = testScenario();

/** Its only download ends at 51 s. */
const session = testSession({
  segments: [{ ...testSession().segments[0]!, requestedAtSeconds: 49, downloadSeconds: 2 }],
});

test('a session that ends within its trace is unchanged', () => {
  expect(withTraceEnd(session, { durationSeconds: 60 }, scenario)).toBe(session);
});

const household = { name: 'two', algorithm: 'mpc-d', player: 1, joinSeconds: 10.5, linkUtilisation: 1 };
/** One segment of 4 s, and 600 s of waiting. */
const cut = { endedBy: 'cutoff' as const, startupSeconds: 20, stallSeconds: 580 };
const live = (watchedSeconds: number) => ({ startupSeconds: 1, live: testLiveMetrics({ watchedSeconds }) });

test.each<[string, Partial<SessionResult>, number, number | undefined]>([
  ['counts from the second at which the trace of 59 s begins again, 45', {}, 59, 6],
  ['counts from the end of a whole trace', { startSeconds: 10 }, 60, 1],
  ['does not count at the end', { startSeconds: 9 }, 60, undefined],
  ['of a household counts from its join', { household }, 60, 1.5],
  ['that was cut off ends at its cutoff', cut, 60, 544],
  ['that was cut off at once, too', { ...cut, segments: [] }, 60, 540],
  // Browsers notice somewhat later.
  ['of a live stream ends with its encoder', live(59.4), 60, undefined],
  ['of a live stream that is a second late counts it', live(60), 60, 1],
])('a session %s', (_, change, durationSeconds, seconds) => {
  const { pastTraceSeconds } = withTraceEnd({ ...session, ...change }, { durationSeconds }, scenario);
  expect(pastTraceSeconds).toEqual(seconds && expect.closeTo(seconds, 9));
});
