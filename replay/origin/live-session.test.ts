/** Live sessions on a manual clock, without HTTP. */

import { expect, test } from '@jest/globals';
import { PiecewisePath } from '../../abr/index.ts';
import type { MediaFile } from '../media/presentation.ts';
import { type LiveStream, SCENARIOS, type Scenario } from '../scenarios.ts';
import { EXACT, traceOfRates } from '../simulator/made-up.fixture.ts';
import type { ByteRange } from './range-stream.ts';
import { ReplaySession, type SessionSpec } from './session.ts';
import { download, VirtualClock } from './virtual-clock.fixture.ts';

const TARGET = { targetLatencySeconds: 2, timeShiftSeconds: 60 };
const live: LiveStream = { ...TARGET, chunkSeconds: 0.25, encoderLatencySeconds: 0.3 };
const RTT_SECONDS = 0.04;
const media = { ladderBps: [1e6, 8e6], segmentSeconds: 2, segmentCount: 40 };
const scenario: Scenario = { ...SCENARIOS['pensieve-60']!, ...media, ...EXACT, rttSeconds: RTT_SECONDS, live };

const traceOf = (...ratesMbps: number[]) => traceOfRates(ratesMbps, 1, { startUtcMs: Date.UTC(2025, 5, 1, 12) });

/** A joined session on its clock. */
function join(spec: Partial<SessionSpec> = {}, clock = new VirtualClock()) {
  const session = new ReplaySession('1', { trace: traceOf(1000), scenario, ...spec }, clock);
  session.manifest();
  const startMs = clock.nowMs();
  const runTo = (seconds: number) => clock.run(startMs + seconds * 1000);
  return { clock, session, runTo, download: (...of: [string, ByteRange?]) => download(session, ...of) };
}

/** When the last byte before `end` arrived. */
const arrivedAt = (arrived: readonly { seconds: number; bytes: number }[], end: number) =>
  arrived.find(({ bytes }) => bytes >= end)?.seconds;
const existing = ({ chunks }: MediaFile) => chunks!.map(({ existsAtSeconds }) => existsAtSeconds);

test('a live session starts its clock at the first manifest; time is the UTC of the trace', () => {
  const clock = new VirtualClock();
  const session = new ReplaySession('1', { trace: traceOf(1000), scenario, startSeconds: 7 }, clock);
  clock.run(clock.nowMs() + 5000);
  expect(session.nowSeconds).toBe(0);
  expect(session.manifest()).toContain('availabilityStartTime="2025-06-01T11:59:07.000Z"');
  clock.run(clock.nowMs() + 1500);
  expect(session.utcMs).toBe(Date.UTC(2025, 5, 1, 12, 0, 8, 500));
  const later = session.manifest();
  expect(later).toContain('availabilityStartTime="2025-06-01T11:59:07.000Z"');
  expect(later).toContain('publishTime="2025-06-01T12:00:08.500Z"');
});

test('what was captured before the join is there; the next segment when its first chunk is about to exist', () => {
  const { session, runTo } = join();
  const until = (path: string) => session.secondsUntil(session.presentation.find(path)!);
  const isComplete = (path: string) => {
    const file = session.presentation.find(path)!;
    return session.isComplete(file, file.body.length);
  };
  expect(until('video-0/29.m4s')).toBeLessThan(0);
  expect(isComplete('video-0/29.m4s')).toBe(true);
  // The segment was captured until the join and exists 0.3 s later: only its last chunks are missing.
  expect(until('video-0/30.m4s')).toBeLessThan(0);
  expect(isComplete('video-0/30.m4s')).toBe(false);
  const file = session.presentation.find('video-0/30.m4s')!;
  expect(session.isComplete(file, file.chunks![5]!.end)).toBe(true);
  // Its first chunk is captured until 0.25 s and exists at 0.55 s.
  expect(until('video-0/31.m4s')).toBeCloseTo(0.3, 9);
  expect(until('video-0/init.mp4')).toBe(Number.NEGATIVE_INFINITY);
  runTo(2.31);
  expect(until('video-0/31.m4s')).toBeLessThan(0);
  expect(isComplete('video-0/31.m4s')).toBe(true);
  expect(until('video-0/32.m4s')).toBeCloseTo(-0.01, 9);
});

test('on a slow link a chunk leaves when it exists and those before it have left', async () => {
  // 1 Mbit each chunk: quick at first, a dip of a second, then quick again.
  const sizes = { ...scenario, ladderBps: [4e6] };
  const { clock, runTo, download } = join({ scenario: sizes, trace: traceOf(20, 1, 20, 20) });
  runTo(0.5);
  const { file, arrived } = download('video-0/31.m4s');
  await clock.play();
  const link = new PiecewisePath({ stepEndsSeconds: [1, 2, 4], ratesBps: [20e6, 1e6, 20e6] });
  const due: number[] = [];
  for (const { existsAtSeconds } of file.chunks!) {
    const at = Math.max(existsAtSeconds, due.at(-1) ?? 0);
    due.push(at + link.downloadSeconds(at, 1e6));
  }
  expect(due[2]! - existing(file)[2]!).toBeGreaterThan(0.8);
  expect(due[7]! - existing(file)[7]!).toBeCloseTo(0.05, 6);
  expect(file.chunks!.map(({ end }) => arrivedAt(arrived, end))).toEqual(due.map((at) => expect.closeTo(at, 6)));
});

test('while the encoder pauses, an open request waits; then all chunks of the pause exist', async () => {
  const { clock, session, runTo, download } = join({
    scenario: { ...scenario, live: { ...live, encoderPauses: [{ fromSeconds: 1, seconds: 5 }] } },
  });
  runTo(0.5);
  const { file, arrived } = download('video-0/31.m4s');
  expect(existing(file)).toEqual([0.55, 0.8, 6, 6, 6, 6, 6, 6].map((at) => expect.closeTo(at, 9)));
  const until = (path: string) => session.secondsUntil(session.presentation.find(path)!);
  // Later segments begin to exist at the end of the pause, or at their time.
  expect([32, 33, 34].map((number) => until(`video-0/${number}.m4s`))).toEqual(
    [6, 6, 6.55].map((at) => expect.closeTo(at - 0.25 - 0.5, 9)),
  );
  await clock.play();
  expect(arrivedAt(arrived, file.chunks![1]!.end)).toBeCloseTo(0.8, 2);
  expect(arrivedAt(arrived, file.chunks![2]!.end)).toBeCloseTo(6, 2);
  expect(arrivedAt(arrived, file.body.length)).toBeCloseTo(6, 2);
});

test('a blocking reload of a playlist waits for what it asks for', async () => {
  const { clock, session, runTo } = join();
  expect(await session.playlist('video-2.m3u8')).toBeUndefined();
  await expect(session.playlist('video-0.m3u8', { mediaSequence: 31 })).rejects.toThrow(/at most two .*got 31/);
  // Part 0 of the segment that begins with the session.
  const reload = { mediaSequence: 30, part: 0 };
  let text: string | undefined;
  void session.playlist('video-0.m3u8', reload).then((playlist) => {
    text = playlist;
  });
  runTo(0.5);
  await new Promise(setImmediate);
  expect([text, clock.pending]).toEqual([undefined, 1]);
  runTo(0.56);
  await new Promise(setImmediate);
  expect(text).toMatch(
    /URI="video-0\/31.m4s",BYTERANGE="\d+@0",INDEPENDENT=YES\n#EXT-X-PRELOAD-HINT:.*\n#EXT-X-RENDITION/,
  );
  expect(await session.playlist('video-0.m3u8', reload)).toBe(text);
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

test('unpaced, chunks wait for their existence only', async () => {
  const { clock, runTo, download } = join({ pacing: 'none', trace: traceOf(0.001) });
  runTo(0.5);
  const { file, arrived } = download('video-1/31.m4s');
  await clock.play();
  expect(file.chunks!.map(({ end }) => arrivedAt(arrived, end))).toEqual(
    existing(file).map((at) => expect.closeTo(at, 5)),
  );
});
