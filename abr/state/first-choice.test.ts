import { expect, test } from '@jest/globals';
import { stateOf } from '../random-states.fixture.ts';
import { firstChoice } from './first-choice.ts';

const LADDER_BPS = [51e3, 500e3, 850e3, 2.5e6, 8e6];

test.each([
  ['nothing is assumed', 4, undefined, undefined, 0],
  ['the lowest is above what the player assumes', 4, 40e3, 10e6, 0],
  ["the player's default takes over a second", 10, 1e6, undefined, 0],
  ['the browser knows a faster link', 10, 1e6, 10e6, 2],
  ['the browser knows a slower link', 4, 1e6, 0.6e6, 0],
  ['the browser knows a slow link: short segments come in time', 1, 1e6, 0.6e6, 2],
  ['the page assumes a fast link', 4, 20e6, undefined, 3],
  ['the player does not know', 4, Number.NaN, 10e6, 0],
])('%s (segments of %d s)', (_, segmentSeconds, playerBps, browserBps, expected) => {
  const state = stateOf(LADDER_BPS, { segmentSeconds, assumed: { playerBps, browserBps } });
  expect(firstChoice(state).representation).toBe(expected);
});
