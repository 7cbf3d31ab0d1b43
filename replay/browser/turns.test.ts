import { expect, test } from '@jest/globals';
import type { Trace } from '../trace.ts';
import { inTurns } from './turns.ts';

const traces = ['a', 'b'].map((name) => ({ name }) as Trace);

test('each start begins with the next algorithm, and all sessions stay', () => {
  const sessions = traces.flatMap((trace) =>
    [0, 61].flatMap((startSeconds) => ['x', 'y', 'z'].map((algorithm) => ({ trace, startSeconds, algorithm }))),
  );
  const order = inTurns(sessions).map(
    ({ trace, startSeconds, algorithm }) => `${trace.name}${startSeconds}${algorithm}`,
  );
  expect(order).toEqual(['a0x', 'a0y', 'a0z', 'a61y', 'a61z', 'a61x', 'b0z', 'b0x', 'b0y', 'b61x', 'b61y', 'b61z']);
  expect(inTurns([])).toEqual([]);
});
