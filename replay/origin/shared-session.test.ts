/** Several sessions on one link, on a manual clock, without HTTP. */

import { expect, test } from '@jest/globals';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { EXACT, traceOfRates } from '../simulator/made-up.fixture.ts';
import { ReplaySession, type SessionSpec } from './session.ts';
import { download, VirtualClock } from './virtual-clock.fixture.ts';

const RTT_SECONDS = 0.04;
/** Segments of 2 Mbit and 8 Mbit. */
const media = { ladderBps: [1e6, 4e6], segmentSeconds: 2, segmentCount: 40 };
const scenario: Scenario = { ...SCENARIOS['pensieve-60']!, ...media, ...EXACT, rttSeconds: RTT_SECONDS };
const trace = traceOfRates([8], 60, { startUtcMs: Date.UTC(2025, 5, 1, 12) });

/** A session per spec. All later sessions share the first session's link. */
function household(...specs: Partial<SessionSpec>[]) {
  const clock = new VirtualClock();
  const sessions: ReplaySession[] = [];
  for (const spec of specs) {
    const link = sessions[0] && { link: sessions[0] };
    sessions.push(new ReplaySession(String(sessions.length), { trace, scenario, ...link, ...spec }, clock));
  }
  const startMs = clock.nowMs();
  /** Seconds since the sessions were made. */
  const runTo = async (seconds: number) => {
    clock.run(startMs + seconds * 1000);
    await new Promise(setImmediate);
  };
  const [a, b] = sessions as [ReplaySession, ReplaySession];
  return { clock, a, b, runTo };
}

test('sessions on one link share it equally; each has its own log, on the clock of the link', async () => {
  const { clock, a, b, runTo } = household({}, {});
  await runTo(5);
  const first = download(a, 'video-1/1.m4s');
  await runTo(5.5);
  expect([a.nowSeconds, b.nowSeconds, b.utcMs]).toEqual([0.5, 0.5, Date.UTC(2025, 5, 1, 12) + 500]);
  const second = download(b, 'video-0/1.m4s');
  await clock.play();
  expect([a.log.length, b.log.length]).toEqual([1, 1]);
  expect([first.entry.requestedAtSeconds, second.entry.requestedAtSeconds]).toEqual([0, 0.5]);
  // Two halves from 0.54 s on; b needs 2 Mbit of its 4 Mbit/s, a has 2 Mbit less of the link than alone.
  expect(second.entry.prescribedEndSeconds).toBeCloseTo(RTT_SECONDS + 0.5 + 0.5, 9);
  expect(first.entry.prescribedEndSeconds).toBeCloseTo(RTT_SECONDS + 1.25, 9);
  expect(first.entry.endedAtSeconds).toBeCloseTo(RTT_SECONDS + 1.25, 3);
  expect(b.linkUtilisation).toBeCloseTo(1.25 / 1.29, 9);
});

test('the first request for a segment, of whichever session, starts the link', async () => {
  let starts = 0;
  const { clock, a, b, runTo } = household({}, { onStart: () => starts++ });
  download(b, 'video-0/init.mp4');
  await runTo(3);
  expect([starts, b.nowSeconds]).toEqual([0, 0]);
  download(a, 'video-0/1.m4s');
  expect(starts).toBe(1);
  // From now on initialisation segments share the link, too.
  const late = download(b, 'video-1/init.mp4');
  await clock.play();
  expect(late.entry.prescribedEndSeconds).toBeGreaterThan(RTT_SECONDS);
});

test('one that ends leaves the link to the other', async () => {
  const { clock, a, b, runTo } = household({}, {});
  const stays = download(a, 'video-1/1.m4s');
  const goes = download(b, 'video-1/1.m4s');
  await runTo(RTT_SECONDS + 0.5);
  goes.abort.abort();
  await clock.play();
  expect(goes.entry).toMatchObject({ outcome: 'aborted', sentBytes: expect.closeTo(2e6 / 8, -4) });
  expect(stays.entry.prescribedEndSeconds).toBeCloseTo(RTT_SECONDS + 1.25, 3);
  const alone = download(a, 'video-1/2.m4s');
  await clock.play();
  expect(alone.entry.prescribedEndSeconds! - alone.entry.requestedAtSeconds).toBeCloseTo(RTT_SECONDS + 1, 9);
});

test('traffic takes its share from its second to its other', async () => {
  const traffic = [{ fromSeconds: 0.29, toSeconds: 1.04 }];
  const { clock, a } = household({ traffic });
  const { entry } = download(a, 'video-1/1.m4s');
  await clock.play();
  // 2 Mbit alone, 3 in the shared time, the other 3 alone.
  expect(entry.prescribedEndSeconds).toBeCloseTo(1.04 + 3 / 8, 9);
  expect(a.linkUtilisation).toBeCloseTo(1 - RTT_SECONDS / 1.415, 9);
  expect(clock.pending).toBe(0);
});

test('live, all have one encoder', async () => {
  const live = { chunkSeconds: 0.5, encoderLatencySeconds: 0.3, targetLatencySeconds: 2, timeShiftSeconds: 6 };
  const { a, b, runTo } = household(...Array(2).fill({ scenario: { ...scenario, live } }));
  await runTo(1);
  const first = a.manifest();
  await runTo(6);
  expect(b.nowSeconds).toBe(5);
  const start = /availabilityStartTime="[^"]*"/;
  expect(start.exec(b.manifest())![0]).toBe(start.exec(first)![0]);
  const [one, other] = [a, b].map((session) => session.secondsUntil(session.presentation.find('video-0/7.m4s')!));
  expect(one).toBeCloseTo(6 + 0.5 + 0.3 - 0.25 - 5, 9);
  expect(other).toBe(one);
});

test.each<[string, Partial<SessionSpec>]>([
  ['start', { startSeconds: 1 }],
  ['trace', { trace: { ...trace } }],
  ['RTT', { scenario: { ...scenario, rttSeconds: 0.1 } }],
  ['pacing', { pacing: 'none' }],
])('another %s is another link', (_, spec) => {
  expect(() => household({}, spec)).toThrow('link: expected a session with the same trace, start');
  // Ladder and length are the session's own.
  expect(() => household({}, { scenario: { ...scenario, ladderBps: [2e6] }, segmentCount: 3 })).not.toThrow();
});
