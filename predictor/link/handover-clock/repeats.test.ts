import { describe, expect, test } from '@jest/globals';
import { Repeats } from './repeats.ts';

/** Mean ln density of the second half of five minutes of a link. */
function fitOf(lagSeconds: number, value: (second: number) => number): number {
  const repeats = new Repeats(lagSeconds);
  const densities: number[] = [];
  for (let atSeconds = 0.25; atSeconds < 300; atSeconds += 0.5) {
    const logDensity = repeats.observe({ atSeconds, seconds: 0.5, value: value(atSeconds) });
    expect(logDensity === undefined).toBe(atSeconds < lagSeconds);
    if (atSeconds > 150) densities.push(logDensity!);
  }
  return densities.reduce((sum, density) => sum + density, 0) / densities.length;
}

describe('Repeats', () => {
  test('fits links whose period divides the lag, and no others', () => {
    const wave = (period: number) => (second: number) => (second % period < period / 2 ? 18 : 17);
    for (const period of [3, 5, 7.5, 10, 15, 30]) expect(fitOf(30, wave(period))).toBeGreaterThan(4);
    for (const period of [20, 45, 90]) expect(fitOf(30, wave(period))).toBeLessThan(3);
    for (const period of [45, 90]) expect(fitOf(90, wave(period))).toBeGreaterThan(4);
  });

  test('gaps are no repetition', () => {
    const repeats = new Repeats(30);
    for (let atSeconds = 0.25; atSeconds < 10; atSeconds += 0.5) repeats.observe({ atSeconds, seconds: 0.5, value: 1 });
    expect(repeats.observe({ atSeconds: 35.25, seconds: 0.5, value: 1 })).toBeDefined();
    expect(repeats.observe({ atSeconds: 45.25, seconds: 0.5, value: 1 })).toBeUndefined();
    expect(repeats.observe({ atSeconds: -3, seconds: 0.5, value: 1 })).toBeUndefined();
  });
});
