import { describe, expect, test } from '@jest/globals';
import type { PlayerState } from './controller.ts';
import { InputError } from './errors.ts';
import { qoeWeights } from './qoe.ts';
import { validatePlayerState } from './validate-player-state.ts';

const ladderBps = [1e6, 2e6];
const valid: PlayerState = {
  nowSeconds: 3,
  started: true,
  playbackRate: 1,
  isPaused: false,
  bufferLevelSeconds: 4,
  bufferCapSeconds: 8,
  segmentSeconds: 4,
  segmentIndex: 1,
  segmentsRemaining: Number.POSITIVE_INFINITY,
  ladderBps,
  upcomingSizesBits: [[4e6, 8e6]],
  previousBitrateBps: undefined,
  downloads: [
    {
      segmentIndex: 0,
      bitrateBps: 1e6,
      receivedBits: 4e6,
      sizeBits: 4e6,
      requestedAtSeconds: 0,
      downloadSeconds: 3,
      abandoned: false,
    },
  ],
  weights: qoeWeights('linear', ladderBps),
};

describe('validatePlayerState', () => {
  test('accepts a valid state', () => {
    expect(() => validatePlayerState(valid)).not.toThrow();
  });

  test.each<[string, Record<string, unknown>]>([
    ['state.nowSeconds', { nowSeconds: Number.NaN }],
    ['state.started', { started: undefined }],
    ['state.playbackRate', { playbackRate: 0 }],
    ['state.playbackRate', { playbackRate: undefined }],
    ['state.isPaused', { isPaused: undefined }],
    ['state.bufferLevelSeconds', { bufferLevelSeconds: -1 }],
    ['state.bufferCapSeconds', { bufferCapSeconds: Number.NaN }],
    ['state.segmentSeconds', { segmentSeconds: 0 }],
    ['state.segmentIndex', { segmentIndex: 1.5 }],
    ['state.segmentsRemaining', { segmentsRemaining: 0 }],
    ['state.ladderBps', { ladderBps: [] }],
    ['state.ladderBps', { ladderBps: 5 }],
    ['state.ladderBps[1]', { ladderBps: [2e6, 1e6] }],
    ['state.ladderBps[0]', { ladderBps: [Number.NaN, 1e6] }],
    ['state.upcomingSizesBits', { upcomingSizesBits: [] }],
    ['state.upcomingSizesBits[0]', { upcomingSizesBits: [[4e6]] }],
    ['state.upcomingSizesBits[0][1]', { upcomingSizesBits: [[4e6, 0]] }],
    [
      'state.upcomingSizesBits[1][0]',
      {
        upcomingSizesBits: [
          [4e6, 8e6],
          [Number.NaN, 8e6],
        ],
      },
    ],
    ['state.previousBitrateBps', { previousBitrateBps: 0 }],
    ['state.downloads[0].sizeBits', { downloads: [{ ...valid.downloads[0], sizeBits: 0 }] }],
    ['state.downloads[0].downloadSeconds', { downloads: [{ ...valid.downloads[0], downloadSeconds: -1 }] }],
    ['state.weights.quality', { weights: {} }],
    ['state.weights.mu', { weights: { ...valid.weights, mu: -1 } }],
    ['state.weights.quality(1000000)', { weights: { ...valid.weights, quality: () => Number.NaN } }],
  ])('names %s, what was expected and what came', (field, change) => {
    let thrown: unknown;
    try {
      validatePlayerState({ ...valid, ...change } as PlayerState);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InputError);
    expect((thrown as InputError).field).toBe(field);
    expect((thrown as InputError).message).toMatch(/: expected .+, got .+/);
  });
});
