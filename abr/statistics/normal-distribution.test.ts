import { expect, test } from '@jest/globals';
import { normalCdf, normalQuantile } from './normal-distribution.ts';

// Tables of Phi have these values.
test.each([
  [0, 0.5],
  [0.5, 0.69146246],
  [1, 0.84134475],
  [1.959963985, 0.975],
  [3, 0.9986501],
])('Phi(%p) = %p', (x, p) => {
  expect(normalCdf(x)).toBeCloseTo(p, 6);
  expect(normalCdf(-x)).toBeCloseTo(1 - p, 6);
  expect(normalQuantile(p)).toBeCloseTo(x, 6);
});

test('the quantile is the inverse and ascends, over all its branches', () => {
  let before = Number.NEGATIVE_INFINITY;
  for (let i = 1; i < 4000; i++) {
    const p = i / 4000;
    const x = normalQuantile(p);
    expect(x).toBeGreaterThan(before);
    expect(Math.abs(normalCdf(x) - p)).toBeLessThan(2e-7);
    expect(normalQuantile(1 - p)).toBeCloseTo(-x, 7);
    before = x;
  }
});

test('the ends are infinite', () => {
  expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
  expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
  expect(normalCdf(40)).toBe(1);
  expect(normalCdf(-40)).toBe(0);
});
