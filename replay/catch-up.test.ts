import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CatchUp, type CatchUpSituation, catchUpRate, DEFAULT_CATCH_UP, shouldJumpToLive } from './catch-up.ts';

const SITUATION: CatchUpSituation = {
  latencySeconds: 2,
  targetLatencySeconds: 2,
  bufferLevelSeconds: 1,
  utcMs: 0,
  rates: { min: 0.9, max: 1.2 },
  presentRate: 1,
};
const LOLP: CatchUp = { law: 'lolp', fixedSlots: false };
const SLOTS: CatchUp = { law: 'default', fixedSlots: true };

const rateOf = (catchUp: CatchUp, change: Partial<CatchUpSituation>) =>
  catchUpRate(catchUp, { ...SITUATION, ...change });

describe('the default law', () => {
  test('follows the latency with a steepness of 5 per second, within different bounds up and down', () => {
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 2 })).toBe(1);
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 2.2 })).toBeCloseTo(1 - 0.2 + 0.4 / (1 + Math.exp(-1)), 12);
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 1.8 })).toBeCloseTo(1 - 0.1 + 0.2 / (1 + Math.exp(1)), 12);
  });

  test('plays at rate 1 with an empty buffer', () => {
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 5, bufferLevelSeconds: 0.3, presentRate: 1.2 })).toBe(1);
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 5, bufferLevelSeconds: 0.31 })).toBeCloseTo(1.2, 5);
  });

  test('leaves small changes, except those to rate 1', () => {
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 2.01 })).toBe(1);
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 2.02 })).toBeGreaterThan(1);
    expect(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 2, presentRate: 1.001 })).toBe(1);
  });
});

describe("LoL+'s law", () => {
  test('slows down below half a second of buffer, however late playback is', () => {
    const rate = rateOf(LOLP, { latencySeconds: 5, bufferLevelSeconds: 0.3 });
    expect(rate).toBeCloseTo(1 - 0.1 + 0.2 / (1 + Math.exp(1)), 12);
    expect(rateOf(LOLP, { latencySeconds: 5, bufferLevelSeconds: 0.5 })).toBeCloseTo(1.2, 5);
  });

  test('plays at rate 1 within 2 % of the target', () => {
    expect(rateOf(LOLP, { latencySeconds: 2.039, presentRate: 1.2 })).toBe(1);
    expect(rateOf(LOLP, { latencySeconds: 2.041, presentRate: 1.2 })).toBeGreaterThan(1);
  });
});

describe('fixed slots', () => {
  test('slow down in their seconds and follow the law in all others', () => {
    const slow = Array.from({ length: 120 }, (_, second) => second).filter(
      (second) => rateOf(SLOTS, { utcMs: second * 1000 + 999, latencySeconds: 3 }) < 1,
    );
    const once = [11, 12, 13, 26, 27, 28, 41, 42, 43, 56, 57, 58];
    expect(slow).toEqual([...once, ...once.map((second) => second + 60)]);
    expect(rateOf(SLOTS, { utcMs: 11_000 })).toBeCloseTo(1 - 0.1 + 0.2 / (1 + Math.exp(2.5)), 12);
    expect(rateOf(SLOTS, { latencySeconds: 3 })).toBe(rateOf(DEFAULT_CATCH_UP, { latencySeconds: 3 }));
  });
});

test('every law stays within the bounds of the rate', () => {
  fc.assert(
    fc.property(
      fc.record({
        law: fc.constantFrom('default' as const, 'lolp' as const),
        fixedSlots: fc.boolean(),
      }),
      fc.record({
        latencySeconds: fc.double({ min: 0, max: 60, noNaN: true }),
        targetLatencySeconds: fc.double({ min: 0.6, max: 20, noNaN: true }),
        bufferLevelSeconds: fc.double({ min: 0, max: 20, noNaN: true }),
        utcMs: fc.integer({ min: 0, max: 1e7 }),
      }),
      (catchUp, change) => {
        const rate = rateOf(catchUp, change);
        expect(rate).toBeGreaterThanOrEqual(0.9);
        expect(rate).toBeLessThanOrEqual(1.2);
      },
    ),
  );
});

test('playback jumps beyond 12 s of drift', () => {
  expect(shouldJumpToLive(14, 2)).toBe(false);
  expect(shouldJumpToLive(14.01, 2)).toBe(true);
});
