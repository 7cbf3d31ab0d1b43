import { describe, expect, test } from '@jest/globals';
import { createBola } from './bola.ts';
import { downloadsOf, stateOf } from './random-states.fixture.ts';

const LADDER_BPS = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];

/** A state after `count` segments at `bitrateBps` on a link of `linkBps`; the buffer is full if the link is faster. */
function steadyState(options: { count: number; bitrateBps: number; linkBps: number; level: number; cap: number }) {
  const { count, bitrateBps, linkBps, level, cap } = options;
  const downloadSeconds = (bitrateBps * 4) / linkBps;
  const intervalSeconds = Math.max(4, downloadSeconds);
  return stateOf(LADDER_BPS, {
    nowSeconds: count * intervalSeconds,
    bufferLevelSeconds: level,
    bufferCapSeconds: cap,
    segmentIndex: count,
    previousBitrateBps: bitrateBps,
    downloads: downloadsOf(count, bitrateBps, bitrateBps * 4, downloadSeconds).map((download, i) => ({
      ...download,
      requestedAtSeconds: i * intervalSeconds,
    })),
  });
}

describe('bola', () => {
  const controller = createBola();

  test('starts with the lowest, then with what the throughput carries', () => {
    const first = steadyState({ count: 0, bitrateBps: 3e6, linkBps: 50e6, level: 0, cap: 30 });
    expect(controller.decide(first).representation).toBe(0);
    const second = steadyState({ count: 1, bitrateBps: 3e6, linkBps: 50e6, level: 4, cap: 30 });
    expect(LADDER_BPS[controller.decide(second).representation]).toBe(30e6);
  });

  test('goes up with the buffer level: lowest up to 10 s, top at the target', () => {
    const choices = [0, 6, 10, 14, 18, 22, 26].map((level) => {
      const state = steadyState({ count: 16, bitrateBps: 3e6, linkBps: 1000e6, level, cap: 30 });
      // No placeholder: each segment took as long as it lasts.
      const downloads = state.downloads.map((download) => ({ ...download, downloadSeconds: 4 }));
      const fast = downloads.map((download) => ({ ...download, receivedBits: 4000e6 }));
      return controller.decide({ ...state, downloads: fast }).representation;
    });
    expect(choices).toEqual([...choices].sort((a, b) => a - b));
    expect(choices[1]).toBe(0);
    expect(choices.at(-1)).toBe(5);
  });

  test('keeps to the throughput with a small buffer, thanks to the placeholder', () => {
    // 8 s of buffer never reach BOLA's 10 s. Segments that came faster than they play fill the placeholder instead.
    const state = steadyState({ count: 16, bitrateBps: 30e6, linkBps: 50e6, level: 4, cap: 8 });
    expect(LADDER_BPS[controller.decide(state).representation]).toBe(30e6);
  });

  test('does not raise the quality above what the throughput sustains', () => {
    const state = steadyState({ count: 16, bitrateBps: 30e6, linkBps: 50e6, level: 26, cap: 30 });
    expect(LADDER_BPS[controller.decide(state).representation]).toBe(30e6);
  });

  test('lowers the bitrate if the buffer is nearly empty', () => {
    const state = steadyState({ count: 16, bitrateBps: 30e6, linkBps: 50e6, level: 1, cap: 8 });
    // 0.7 * 50 Mbit/s * 1 s / 4 s.
    expect(LADDER_BPS[controller.decide(state).representation]).toBe(8e6);
  });

  test('starts by throughput again after a seek', () => {
    const state = steadyState({ count: 16, bitrateBps: 3e6, linkBps: 50e6, level: 0, cap: 8 });
    expect(LADDER_BPS[controller.decide({ ...state, segmentIndex: 40 }).representation]).toBe(30e6);
  });

  test('takes the lowest of equal bitrates', () => {
    const state = steadyState({ count: 16, bitrateBps: 3e6, linkBps: 50e6, level: 26, cap: 30 });
    expect(controller.decide({ ...state, ladderBps: [3e6, 3e6] }).representation).toBe(0);
  });
});
