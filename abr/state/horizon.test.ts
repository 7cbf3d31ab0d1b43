import { expect, test } from '@jest/globals';
import type { PlayerState } from '../controller.ts';
import { horizonOf } from './horizon.ts';

test.each([
  [4, 8, 5],
  [4, 20, 7],
  [4, 60, 16],
  [2, 60, 16],
  [1, 60, 32],
  [1, 20, 22],
  [0.5, 60, 32],
])('plans of segments of %d s in a buffer of %d s have %d segments', (segmentSeconds, bufferCapSeconds, expected) => {
  expect(horizonOf({ segmentSeconds, bufferCapSeconds } as PlayerState)).toBe(expected);
});
