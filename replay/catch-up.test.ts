import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../abr/property.fixture.ts';
import { type CatchUp, type CatchUpSituation, catchUpRate, shouldJumpToLive } from './catch-up.ts';

const LATENCIES = { latencySeconds: 2, targetLatencySeconds: 2 };
const RATES = { rates: { min: 0.9, max: 1.2 }, presentRate: 1 };
const SITUATION: CatchUpSituation = { ...LATENCIES, ...RATES, bufferLevelSeconds: 1 };

const rateOf = (catchUp: CatchUp, change: Partial<CatchUpSituation>) =>
  catchUpRate(catchUp, { ...SITUATION, ...change });

describe('the default law', () => {
  test('follows the latency with a steepness of 5 per second, within different bounds up and down', () => {
    expect(rateOf('default', { latencySeconds: 2 })).toBe(1);
    expect(rateOf('default', { latencySeconds: 2.2 })).toBeCloseTo(1 - 0.2 + 0.4 / (1 + Math.exp(-1)), 12);
    expect(rateOf('default', { latencySeconds: 1.8 })).toBeCloseTo(1 - 0.1 + 0.2 / (1 + Math.exp(1)), 12);
  });

  test('plays at rate 1 with an empty buffer', () => {
    expect(rateOf('default', { latencySeconds: 5, bufferLevelSeconds: 0.3, presentRate: 1.2 })).toBe(1);
    expect(rateOf('default', { latencySeconds: 5, bufferLevelSeconds: 0.31 })).toBeCloseTo(1.2, 5);
  });

  test('leaves small changes, except those to rate 1', () => {
    expect(rateOf('default', { latencySeconds: 2.01 })).toBe(1);
    expect(rateOf('default', { latencySeconds: 2.02 })).toBeGreaterThan(1);
    expect(rateOf('default', { latencySeconds: 2, presentRate: 1.001 })).toBe(1);
  });
});

describe("LoL+'s law", () => {
  test('slows down below half a second of buffer, however late playback is', () => {
    const rate = rateOf('lolp', { latencySeconds: 5, bufferLevelSeconds: 0.3 });
    expect(rate).toBeCloseTo(1 - 0.1 + 0.2 / (1 + Math.exp(1)), 12);
    expect(rateOf('lolp', { latencySeconds: 5, bufferLevelSeconds: 0.5 })).toBeCloseTo(1.2, 5);
  });

  test('plays at rate 1 within 2 % of the target', () => {
    expect(rateOf('lolp', { latencySeconds: 2.039, presentRate: 1.2 })).toBe(1);
    expect(rateOf('lolp', { latencySeconds: 2.041, presentRate: 1.2 })).toBeGreaterThan(1);
  });
});

test('every law stays within the bounds of the rate', () => {
  const latencies = { latencySeconds: between(0, 60), targetLatencySeconds: between(0.6, 20) };
  const situation = fc.record({ ...latencies, bufferLevelSeconds: between(0, 20) });
  forAll([fc.constantFrom<CatchUp[]>('default', 'lolp'), situation], {}, (catchUp, change) => {
    const rate = rateOf(catchUp, change);
    expect(rate).toBeGreaterThanOrEqual(0.9);
    expect(rate).toBeLessThanOrEqual(1.2);
  });
});

test('playback jumps beyond 12 s of drift', () => {
  expect(shouldJumpToLive(14, 2)).toBe(false);
  expect(shouldJumpToLive(14.01, 2)).toBe(true);
});
