import { expect, test } from '@jest/globals';
import { ablationsAmong } from './ablations.ts';
import { difficultyByPlace } from './difficulty.ts';
import { placeKey } from './plan.ts';
import { testSession } from './test-sessions.fixture.ts';

test('difficulty: equal thirds per data set by the QoE of the baseline; too few places are not divided', () => {
  const sessions = [8, 1, 5, 3, 7, 2, 6].flatMap((qoeLinear, i) => [
    testSession({ trace: `t${i}`, qoeLinear }),
    testSession({ trace: `t${i}`, algorithm: 'mpc-l', qoeLinear: -qoeLinear }),
  ]);
  const few = testSession({ dataset: 'few', trace: 'x', qoeLinear: 1 });
  const found = difficultyByPlace([...sessions, few], 'mpc-d');
  const of = (i: number) => found.get(placeKey(testSession({ trace: `t${i}` })));
  expect([0, 1, 2, 3, 4, 5, 6].map(of)).toEqual(['easy', 'hard', 'middle', 'middle', 'easy', 'hard', 'middle']);
  expect(found.has(placeKey(few))).toBe(false);
});

test('ablations are variants of algorithms in the benchmark', () => {
  expect(ablationsAmong(['mpc-d', 'mpc-l', 'mpc-l:no-abandon', 'mpc-l@oracle', 'mpc-d:cap', 'bola:x'])).toEqual([
    { variant: 'mpc-l:no-abandon', of: 'mpc-l' },
    { variant: 'mpc-l@oracle', of: 'mpc-l' },
    { variant: 'mpc-d:cap', of: 'mpc-d' },
  ]);
});
