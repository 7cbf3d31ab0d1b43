import { expect, test } from '@jest/globals';
import { normalCdf, normalQuantile } from './normal-distribution.ts';

// Tables of Phi have these values.
const PHI = { 0: 0.5, 0.5: 0.69146246, 1: 0.84134475, 1.959963985: 0.975, 3: 0.9986501 };
test.each(Object.entries(PHI))('Phi(%s) = %p', (text, p) => {
  const x = Number(text);
  expect(normalCdf(x)).toBeCloseTo(p, 6);
  expect(normalCdf(-x)).toBeCloseTo(1 - p, 6);
  expect(normalQuantile(p)).toBeCloseTo(x, 6);
});

test('the quantile is the inverse and ascends, over all its branches', () => {
  const levels = Array.from({ length: 3999 }, (_, i) => (i + 1) / 4000);
  const quantiles = levels.map(normalQuantile);
  expect(Math.min(...quantiles.slice(1).map((x, i) => x - quantiles[i]!))).toBeGreaterThan(0);
  expect(Math.max(...quantiles.map((x, i) => Math.abs(normalCdf(x) - levels[i]!)))).toBeLessThan(2e-7);
  expect(Math.max(...quantiles.map((x, i) => Math.abs(normalQuantile(1 - levels[i]!) + x)))).toBeLessThan(5e-8);
});

test('the ends are infinite', () => {
  expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
  expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
  expect(normalCdf(40)).toBe(1);
  expect(normalCdf(-40)).toBe(0);
});
