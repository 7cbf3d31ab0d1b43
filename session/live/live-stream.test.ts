import { expect, test } from '@jest/globals';
import type { Situation } from '../player-port.ts';
import { LiveStream } from './live-stream.ts';

test('at the edge the buffer holds what exists, up to the end of the segment that does not exist yet', () => {
  const playback = { segmentSeconds: 4, bufferCapSeconds: 30 };
  const live = { latencySeconds: 3, firstChunkSeconds: 1, nowSeconds: 100 };
  const situation = { playback, live, playableUntilSeconds: 90 } as unknown as Situation;
  const atEdge = { playback: { bufferCapSeconds: 3 - 1 + 4 }, playableUntilSeconds: 97 };
  expect(new LiveStream().atEdge(situation)).toMatchObject(atEdge);
});

test('a controller gets the times of the segment to decide on, and the chunks of the latest whole segment', () => {
  const stream = new LiveStream();
  const situation = (firstChunkSeconds: number) => {
    const live = { nowSeconds: 100, firstChunkSeconds, latencySeconds: 3, isPaceable: true };
    return { playback: { segmentSeconds: 4 }, live } as unknown as Situation;
  };
  const whole = { latencySeconds: 3, offRateShare: 0, chunkSeconds: 4, firstChunkAtSeconds: 10 + 101 + 6 - 100 };
  expect(stream.state(situation(6), 101, 10)).toEqual(whole);
  expect(stream.state(situation(1), 101, 10)).toEqual({ ...whole, chunkSeconds: 1, firstChunkAtSeconds: 12 });
  const media = { nowSeconds: 100, firstChunkSeconds: 1, startSeconds: 90, segmentSeconds: 4 };
  const waits = stream.requested(media, true, 10);
  waits.received(10.5, 1e6, 8);
  waits.ended(10.5, true);
  expect(stream.state(situation(1), 101, 10)).toMatchObject({ chunkSeconds: 0.5 });
  expect(stream.state({ ...situation(1), live: undefined }, 101, 10)).toBeUndefined();
});
