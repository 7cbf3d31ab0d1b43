import { expect, test } from '@jest/globals';
import type { PlayerState } from '../../abr/controller.ts';
import { downloadsOf, stateOf } from '../../abr/random-states.fixture.ts';
import { Bola } from './bola.ts';

const LADDER_BPS = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];

/** A state in the middle of a long video on a link of `linkBps`. */
function stateAt(bufferLevelSeconds: number, linkBps: number, changes: Partial<PlayerState> = {}): PlayerState {
  const session = { segmentIndex: 100, bufferLevelSeconds, previousBitrateBps: 3e6 };
  return stateOf(LADDER_BPS, { ...session, downloads: downloadsOf(16, 30e6, linkBps, 1), ...changes });
}

const bitrateIn = (state: PlayerState) => state.ladderBps[new Bola().decide(state).representation];

test('goes up with the buffer level, at the levels where the scores of neighbours are equal', () => {
  // Vp = (30 - 4) / (ln 40 + 5) = 2.993 s. 3 and 8 Mbit/s are equal at Vp * (5 - 3 * ln(8 / 3) / 5) = 13.2 s.
  expect(bitrateIn(stateAt(13.1, 500e6))).toBe(3e6);
  expect(bitrateIn(stateAt(13.3, 500e6))).toBe(8e6);
  // 60 and 120 Mbit/s at Vp * (5 + 2 * ln 20 - ln 40) = 21.9 s, which a buffer of 30 s reaches.
  expect(bitrateIn(stateAt(21.7, 500e6))).toBe(60e6);
  expect(bitrateIn(stateAt(22.1, 500e6))).toBe(120e6);
});

test('fits any buffer, and begins and ends with a small one', () => {
  // Vp = (8 - 4) / (ln 40 + 5): the levels are those of 30 s times 4 / 26.
  expect(bitrateIn(stateAt(3.4, 500e6, { bufferCapSeconds: 8 }))).toBe(120e6);
  // Three segments of target: Vp = (12 - 4) / (ln 40 + 5), times 8 / 26.
  for (const changes of [{ segmentIndex: 6 }, { segmentsRemaining: 4 }]) {
    expect(bitrateIn(stateAt(6.6, 500e6, changes))).toBe(60e6);
    expect(bitrateIn(stateAt(6.8, 500e6, changes))).toBe(120e6);
  }
});

test('is not raised by the buffer level above what the throughput sustains', () => {
  expect(bitrateIn(stateAt(26, 40e6))).toBe(30e6);
  expect(bitrateIn(stateAt(26, 40e6, { previousBitrateBps: 60e6 }))).toBe(60e6);
  expect(bitrateIn(stateAt(26, 40e6, { playbackRate: 2 }))).toBe(15e6);
  expect(bitrateIn(stateAt(26, 40e6, { downloads: [], previousBitrateBps: undefined }))).toBe(3e6);
});

test('takes the lowest of equal bitrates', () => {
  expect(new Bola().decide(stateAt(26, 40e6, { ladderBps: [3e6, 3e6] })).representation).toBe(0);
});
