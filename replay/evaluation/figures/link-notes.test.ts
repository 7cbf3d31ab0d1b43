import { expect, test } from '@jest/globals';
import type { SessionResult } from '../../results.ts';
import { traceUntil } from '../../simulator/made-up.fixture.ts';
import { testLiveMetrics, testScenario, testSession, testTrace } from '../test-sessions.fixture.ts';
import { withLinkNotes } from './link-notes.ts';

const uhd = testScenario();
const household = { name: 'two', algorithm: 'mpc-d', player: 1, joinSeconds: 10.5, linkUtilisation: 1 };

/** Its only download ends at 51 s. */
const [segment] = testSession().segments;
const session = testSession({ segments: [{ ...segment!, requestedAtSeconds: 49, downloadSeconds: 2 }] });
/** One segment of 4 s, and 600 s of waiting. */
const cut = { endedBy: 'cutoff' as const, startupSeconds: 20, stallSeconds: 580 };
const live = (watchedSeconds: number) => ({ startupSeconds: 1, live: testLiveMetrics({ watchedSeconds }) });

test.each<[string, Partial<SessionResult>, number, number | undefined]>([
  ['counts from the second at which the trace of 59 s begins again, 45', {}, 59, 6],
  ['counts from the end of a whole trace', { startSeconds: 10 }, 60, 1],
  ['does not count within the trace', {}, 60, undefined],
  ['does not count at the end', { startSeconds: 9 }, 60, undefined],
  ['of a household counts from its join', { household }, 60, 1.5],
  ['that was cut off ends at its cutoff', cut, 60, 544],
  ['that was cut off at once, too', { ...cut, segments: [] }, 60, 540],
  // Browsers notice somewhat later.
  ['of a live stream ends with its encoder', live(59.4), 60, undefined],
  ['of a live stream that is a second late counts it', live(60), 60, 1],
])('the time past the trace of a session %s', (_, change, durationSeconds, seconds) => {
  const place = { trace: testTrace('t', durationSeconds), segmentCount: 12 };
  const { pastTraceSeconds } = withLinkNotes({ ...session, ...change }, place, uhd);
  expect(pastTraceSeconds).toEqual(seconds && expect.closeTo(seconds, 9));
});

const rising = traceUntil([
  { until: 120, mbps: 1 },
  { until: 300, mbps: 20 },
]);

test.each<[string, Partial<SessionResult>, number, object, number | undefined]>([
  ['payload of the link, over the seconds of the media', {}, 30, {}, 0.5e6],
  ['the same with media that is played faster', {}, 60, { playbackRate: 2 }, 0.5e6],
  ['not of a link that is faster over the whole session', {}, 48, {}, undefined],
  ['from the start of the session', { startSeconds: 100 }, 12, {}, undefined],
  ['from the join of a player', { household: { ...household, joinSeconds: 100 } }, 12, {}, undefined],
  ['past the end, where the trace begins again', { startSeconds: 300 }, 12, {}, 0.5e6],
  ['of scaled rates', {}, 30, { traceScale: { factor: 0.25 } }, 0.125e6],
  ['of rates scaled to a mean', {}, 30, { traceScale: { meanBps: 12.4e7 } }, undefined],
])('slow link: %s', (_, change, segmentCount, scenario, expected) => {
  const place = { trace: rising, segmentCount };
  const before = testSession({ ...change, slowLinkBps: 7 });
  const { slowLinkBps } = withLinkNotes(before, place, { ...uhd, payloadShare: 0.5, ...scenario });
  expect(slowLinkBps).toEqual(expected && expect.closeTo(expected, 3));
});
