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
