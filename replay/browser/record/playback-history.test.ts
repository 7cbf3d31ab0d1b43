import { expect, test } from '@jest/globals';
import type { LiveStream } from '../../scenarios.ts';
import { playbackHistory } from './playback-history.ts';

const TARGET = { targetLatencySeconds: 2, timeShiftSeconds: 10 };
const LIVE: LiveStream = { ...TARGET, chunkSeconds: 0.5, encoderLatencySeconds: 0.3 };
const at = (atSeconds: number, mediaSeconds: number, rate = 1) => ({ atSeconds, mediaSeconds, rate });
const record = (positions: ReturnType<typeof at>[], stalls: [start: number, end: number, media: number][] = []) => ({
  stalls: stalls.map(([startSeconds, endSeconds, mediaSeconds]) => ({ startSeconds, endSeconds, mediaSeconds })),
  live: { positions, jumps: 0, endSeconds: 8, shownLatencySeconds: 0 },
});

test('pieces are cut at changes of the rate and at stalls, without gaps', () => {
  const positions = [at(1, 8), at(2, 9, 0.5), at(6, 10, 1)];
  expect(playbackHistory(record(positions, [[4, 6, 10]]), LIVE)).toEqual([
    { seconds: 1, latencySeconds: 3, rate: 1, isStalled: false },
    { seconds: 2, latencySeconds: 3, rate: 0.5, isStalled: false },
    { seconds: 2, latencySeconds: 4, rate: 1, isStalled: true },
    { seconds: 2, latencySeconds: 6, rate: 1, isStalled: false },
  ]);
});

test('a session without pictures stalls from the join on', () => {
  expect(playbackHistory(record([]), LIVE)).toEqual([{ seconds: 8, latencySeconds: 2, rate: 1, isStalled: true }]);
});
