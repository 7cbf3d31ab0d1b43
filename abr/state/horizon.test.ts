import { expect, test } from '@jest/globals';
import type { PlayerState } from '../controller.ts';
import { horizonOf } from './horizon.ts';

test('a plan has two segments more than the buffer, 5 to 16; up to 32 s of short segments', () => {
  const horizon = (segmentSeconds: number, bufferCapSeconds: number) =>
    horizonOf({ segmentSeconds, bufferCapSeconds } as PlayerState);
  expect([horizon(4, 8), horizon(4, 20), horizon(4, 60), horizon(2, 60)]).toEqual([5, 7, 16, 16]);
  expect([horizon(1, 60), horizon(1, 20), horizon(0.5, 60)]).toEqual([32, 22, 32]);
});
