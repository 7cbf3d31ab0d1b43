import { expect, test } from '@jest/globals';
import { median, normalCdf, normalQuantile, quantile, weightedQuantiles } from './distributions.ts';

test('quantile is linear between order statistics (type 7)', () => {
  const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  expect([0, 0.05, 0.5, 1].map((level) => quantile(ten, level))).toEqual([1, 1.45, 5.5, 10]);
  expect(quantile(ten, 0.95)).toBeCloseTo(9.55, 12);
  expect(quantile([7], 0.3)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN]);
});

test('weightedQuantiles is the least value with that share of the weight up to it; NaN for an empty sample', () => {
  const sorted = [1, 2, 3, 4].map((value) => ({ value, weight: 1 }));
  expect(weightedQuantiles(sorted, [0.25, 0.26, 0.5, 0.9, 1])).toEqual([1, 2, 2, 4, 4]);
  const uneven = [9, 1].map((weight) => ({ value: -weight, weight }));
  expect(weightedQuantiles(uneven, [0.1, 0.9, 0.95])).toEqual([-9, -9, -1]);
  expect(weightedQuantiles([], [0.5])).toEqual([Number.NaN]);
});

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
