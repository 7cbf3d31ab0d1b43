/** Sessions on a manual clock, without HTTP: live, and several on one link. */

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PiecewisePath } from '../../abr/index.ts';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { runningSums } from '../../abr/random-states.fixture.ts';
import { type Chunk, ChunkedFlight, type ChunkedRequest } from '../link/chunked-flight.ts';
import { SharedLink } from '../link/shared-link.ts';
import type { MediaFile } from '../media/presentation.ts';
import { type LiveStream, SCENARIOS, type Scenario } from '../scenarios.ts';
import { EXACT, traceOfRates } from '../simulator/made-up.fixture.ts';
import { PacedLink, TICK_MS } from './paced-link.ts';
import type { ByteRange } from './range-stream.ts';
import { ReplaySession, type SessionSpec } from './session.ts';
import { download, VirtualClock } from './virtual-clock.fixture.ts';

const RTT_SECONDS = 0.04;
const NOON_MS = Date.UTC(2025, 5, 1, 12);
const traceOf = (...ratesMbps: number[]) => traceOfRates(ratesMbps, 1, { startUtcMs: NOON_MS });
/** Segments of 2 s. */
const scenarioOf = (...ladderBps: number[]): Scenario => {
  const media = { ladderBps, segmentSeconds: 2, segmentCount: 40 };
  return { ...SCENARIOS['pensieve-60']!, ...media, ...EXACT, rttSeconds: RTT_SECONDS };
};
const untilOf = (session: ReplaySession) => (path: string) => session.secondsUntil(session.presentation.find(path)!);

const TARGET = { targetLatencySeconds: 2, timeShiftSeconds: 60 };
const live: LiveStream = { ...TARGET, chunkSeconds: 0.25, encoderLatencySeconds: 0.3 };
const liveScenario = { ...scenarioOf(1e6, 8e6), live };

/** A joined session on its clock. */
function join(spec: Partial<SessionSpec> = {}) {
  const clock = new VirtualClock();
  const session = new ReplaySession('1', { trace: traceOf(1000), scenario: liveScenario, ...spec }, clock);
  session.manifest();
  const startMs = clock.nowMs();
  const runTo = (seconds: number) => clock.run(startMs + seconds * 1000);
  return { clock, session, runTo, download: (...of: [string, ByteRange?]) => download(session, ...of) };
}

/** When the last byte before `end` arrived. */
const arrivedAt = (arrived: readonly { seconds: number; bytes: number }[], end: number) =>
  arrived.find(({ bytes }) => bytes >= end)?.seconds;
const existing = ({ chunks }: MediaFile) => chunks!.map(({ existsAtSeconds }) => existsAtSeconds);

test('while the encoder pauses, an open request waits; then all chunks of the pause exist', async () => {
  const pausing = { ...live, encoderPauses: [{ fromSeconds: 1, seconds: 5 }] };
  const { clock, session, runTo, download } = join({ scenario: { ...liveScenario, live: pausing } });
  runTo(0.5);
  const { file, arrived } = download('video-0/31.m4s');
  expect(existing(file)).toEqual([0.55, 0.8, 6, 6, 6, 6, 6, 6].map((at) => expect.closeTo(at, 9)));
  // Later segments begin to exist at the end of the pause, or at their time.
  expect([32, 33, 34].map((number) => untilOf(session)(`video-0/${number}.m4s`))).toEqual(
    [6, 6, 6.55].map((at) => expect.closeTo(at - 0.25 - 0.5, 9)),
  );
  await clock.play();
  expect(arrivedAt(arrived, file.chunks![1]!.end)).toBeCloseTo(0.8, 2);
  expect(arrivedAt(arrived, file.chunks![2]!.end)).toBeCloseTo(6, 2);
  expect(arrivedAt(arrived, file.body.length)).toBeCloseTo(6, 2);
});

test('a range has the chunks that it touches', async () => {
  const { clock, runTo, download } = join();
  runTo(0.5);
  const { file } = download('video-0/31.m4s');
  const [first, second, third] = file.chunks!;
  const { arrived } = download('video-0/31.m4s', { start: first!.end + 10, end: second!.end + 10 });
  await clock.play();
  expect(arrived.at(-1)!.bytes).toBe(second!.end - first!.end);
  expect(arrivedAt(arrived, second!.end - first!.end - 10)).toBeCloseTo(second!.existsAtSeconds, 2);
  expect(arrived.at(-1)!.seconds).toBeCloseTo(third!.existsAtSeconds, 2);
});

/** Segments of 2 Mbit and 8 Mbit. */
const scenario = scenarioOf(1e6, 4e6);
const trace = traceOfRates([8], 60, { startUtcMs: NOON_MS });

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
  expect([a.nowSeconds, b.nowSeconds, b.utcMs]).toEqual([0.5, 0.5, NOON_MS + 500]);
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
  expect(starts).toBe(1);
});

test('a session that ends leaves the link to the other', async () => {
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

test('live sessions on one link have one encoder', async () => {
  const live = { chunkSeconds: 0.5, encoderLatencySeconds: 0.3, targetLatencySeconds: 2, timeShiftSeconds: 6 };
  const { a, b, runTo } = household(...Array(2).fill({ scenario: { ...scenario, live } }));
  await runTo(1);
  const first = a.manifest();
  await runTo(6);
  expect(b.nowSeconds).toBe(5);
  const start = /availabilityStartTime="[^"]*"/;
  expect(start.exec(b.manifest())![0]).toBe(start.exec(first)![0]);
  const [one, other] = [a, b].map((session) => untilOf(session)('video-0/7.m4s'));
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

describe('paced-link', () => {
  const step = new PiecewisePath({ stepEndsSeconds: [2, 3, 5], ratesBps: [8e6, 0, 80e6] });

  /** Downloads `bytes` and records the number of arrived bytes over time. */
  function download(bytes: number, clock = new VirtualClock()) {
    const link = new PacedLink(clock, step, RTT_SECONDS);
    link.start();
    const startMs = clock.nowMs();
    const record: { seconds: number; bytes: number }[] = [];
    const handle = link.request(bytes, (count) => {
      record.push({ seconds: (clock.nowMs() - startMs) / 1000, bytes: count });
    });
    clock.run();
    return { clock, prescribedEndSeconds: handle.prescribedEndSeconds, record };
  }

  test('delivers along the path, one RTT late, never early and at most a tick late', () => {
    const bytes = 5e6;
    const { clock, prescribedEndSeconds, record } = download(bytes);
    const path = step.from(0, RTT_SECONDS);
    for (const { seconds, bytes: come } of record) {
      const dueBytes = (step.cumulativeBits(seconds) - step.cumulativeBits(RTT_SECONDS)) / 8;
      expect(come).toBeLessThanOrEqual(dueBytes + 1e-3);
      expect(come).toBeGreaterThan(dueBytes - (80e6 * TICK_MS) / 8000);
    }
    expect(record[0]!.seconds).toBeLessThan(RTT_SECONDS + 0.005);
    expect(record.at(-1)).toEqual({ seconds: expect.closeTo(path.downloadSeconds(0, bytes * 8), 6), bytes });
    expect(prescribedEndSeconds).toBeCloseTo(path.downloadSeconds(0, bytes * 8), 9);
    expect(clock.pending).toBe(0);
  });

  test('a request that is cancelled between two ticks has taken its share until then', () => {
    const clock = new VirtualClock();
    const link = new PacedLink(clock, new PiecewisePath({ stepEndsSeconds: [9], ratesBps: [8e6] }), 0);
    link.start();
    const [other, whole] = [link.request(1e6, () => {}), link.request(1e6, () => {})];
    clock.run(clock.nowMs() + 501);
    other.cancel();
    clock.run();
    expect(whole.prescribedEndSeconds).toBeCloseTo(1 + 0.501 / 2, 6);
  });

  test('timers that fire late delay bytes, but not the prescribed end', () => {
    let turn = 0;
    const { prescribedEndSeconds, record } = download(1e6, new VirtualClock(() => (turn++ % 3) * 5));
    const prescribed = step.from(0, RTT_SECONDS).downloadSeconds(0, 8e6);
    expect(prescribedEndSeconds).toBeCloseTo(prescribed, 9);
    expect(record.at(-1)!.seconds - prescribed).toBeGreaterThanOrEqual(0);
    expect(record.at(-1)!.seconds - prescribed).toBeLessThan(0.0101);
  });
});

/** Sends flights on one link, by default without a round trip. */
function sharedLink(path: PiecewisePath) {
  const link = new SharedLink();
  const send = (sizeBits: number, requestedAtSeconds: number, more: Partial<ChunkedRequest> = {}) => {
    const access = link.access();
    const chunks = [{ existsAtSeconds: 0, bits: sizeBits }];
    const request = { requestedAtSeconds, rttSeconds: 0, sizeBits, chunks, ...more };
    const flight = new ChunkedFlight(access.shareOf(path), request);
    access.begin(flight);
    return flight;
  };
  return { link, send };
}

const pathArbitrary = fc
  .array(fc.tuple(whole(1, 30), fc.constantFrom(0, 1e5, 3e6, 2e7)), { minLength: 1, maxLength: 8 })
  .filter((steps) => steps.some(([, rate]) => rate > 0))
  .map((steps) => {
    const stepEndsSeconds = runningSums(steps.map(([tenths]) => tenths / 10));
    return new PiecewisePath({ stepEndsSeconds, ratesBps: steps.map(([, rate]) => rate) });
  });

const RUNS = { seed: 1, numRuns: 300 };
const anyStepMs = whole(10, 2000);
const transfers = (mostBits: number, mostTenths: number, maxLength: number) =>
  fc.array(fc.tuple(whole(1, mostBits), fc.nat(mostTenths)), { minLength: 1, maxLength });

test('alone, each part of a transfer is sent when it exists and the parts before it are delivered', () => {
  const any = { parts: transfers(2e6, 20, 8), start: fc.nat(40), rttSeconds: fc.constantFrom(0, 0.1) };
  forAll([pathArbitrary, fc.record(any), anyStepMs], RUNS, (path, { parts, start, rttSeconds }, stepMs) => {
    const startSeconds = start / 10;
    const begins: number[] = [];
    const ends: number[] = [];
    const chunks: Chunk[] = [];
    let existsAtSeconds = 0;
    for (const [bits, tenths] of parts) {
      existsAtSeconds += tenths / 10;
      chunks.push({ existsAtSeconds, bits });
      const begin = Math.max(existsAtSeconds, ends.at(-1) ?? startSeconds + rttSeconds);
      begins.push(begin);
      ends.push(begin + path.downloadSeconds(begin, bits));
    }
    const dueBits = (seconds: number) =>
      chunks.reduce((sum, { bits }, i) => {
        const since = path.cumulativeBits(seconds) - path.cumulativeBits(begins[i]!);
        return sum + Math.min(bits, Math.max(0, since));
      }, 0);
    const { link, send } = sharedLink(path);
    const sizeBits = chunks.reduce((sum, { bits }) => sum + bits, 0);
    const flight = send(sizeBits, startSeconds, { chunks, rttSeconds, responseSeconds: () => 0.01 });
    let [delivered, received] = [0, 0];
    while (link.nowSeconds < flight.endsAtSeconds) {
      link.advanceTo(link.nowSeconds + stepMs / 1000);
      const { nowSeconds } = link;
      delivered = Math.max(delivered, Math.abs(flight.deliveredBits(nowSeconds) - dueBits(nowSeconds)));
      received = Math.max(received, Math.abs(flight.receivedBits(nowSeconds) - dueBits(nowSeconds)));
    }
    expect(delivered).toBeLessThan(1);
    // The page has the first byte as a whole.
    expect(received).toBeLessThan(8 + 1);
    const [starts, stops] = [begins, ends].map((all) => all.map((seconds) => expect.closeTo(seconds, 5)));
    expect(flight.transfers.map(({ startSeconds }) => startSeconds)).toEqual(starts);
    expect(flight.transfers.map(({ endSeconds }) => endSeconds)).toEqual(stops);
    expect(flight.endsAtSeconds).toBeCloseTo(ends.at(-1)! + 0.01, 5);
  });
});

test('transfers together get exactly the capacity of the link while one of them is active', () => {
  forAll([pathArbitrary, transfers(3e6, 40, 6)], RUNS, (path, sizes) => {
    const { link, send } = sharedLink(path);
    const flights = sizes.map(([bits, tenths]) => send(bits, tenths / 10));
    const deliveredBits = () => flights.reduce((sum, flight) => sum + flight.deliveredBits(link.nowSeconds), 0);
    link.advanceTo(Math.min(...flights.map(({ requestedAtSeconds }) => requestedAtSeconds)));
    while (flights.some(({ endsAtSeconds }) => endsAtSeconds > link.nowSeconds)) {
      const before = link.nowSeconds;
      const bitsBefore = deliveredBits();
      const busy = flights.some((one) => one.requestedAtSeconds <= before && one.endsAtSeconds > before);
      link.advanceTo(link.nextChangeSeconds());
      const delivered = deliveredBits() - bitsBefore;
      const due = path.cumulativeBits(link.nowSeconds) - path.cumulativeBits(before);
      if (busy) expect(Math.abs(delivered - due)).toBeLessThan(1);
      else expect(delivered).toBe(0);
    }
    expect(flights.every((one) => one.deliveredBits(link.nowSeconds) === one.sizeBits)).toBe(true);
  });
});

test('on a link without capacity a transfer never ends', () => {
  const { link, send } = sharedLink(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [0] }));
  const flight = send(8, 0.5);
  expect(link.nextChangeSeconds()).toBe(0.5);
  link.advanceTo(100);
  const { POSITIVE_INFINITY: never } = Number;
  expect([flight.deliveredBits(100), flight.endsAtSeconds, link.nextChangeSeconds()]).toEqual([0, never, never]);
});
