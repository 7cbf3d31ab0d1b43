import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { mean, tailSize, UnitSample } from './quantiles.ts';

test('the tail is ceil(5 %)', () => {
  expect([1, 20, 21, 40, 41, 100, 1000].map(tailSize)).toEqual([1, 1, 2, 2, 3, 5, 50]);
});

test('law: statistics of a resample equal those of the sample with repeated values', () => {
  const unit = fc.record({
    values: fc.array(between(-100, 100), { minLength: 1, maxLength: 9 }),
    count: whole(0, 4),
  });
  forAll([fc.array(unit, { minLength: 1, maxLength: 7 })], { seed: 1 }, (units) => {
    const values = units.flatMap((u) => u.values);
    const unitOf = units.flatMap((u, index) => u.values.map(() => index));
    const counts = units.map((u) => u.count);
    const sample = new UnitSample(values, unitOf, units.length);
    const written = units.flatMap((u) => u.values.flatMap((v) => Array<number>(u.count).fill(v))).sort((a, b) => a - b);
    expect(sample.sizeOf(counts)).toBe(written.length);
    if (written.length === 0) {
      expect([sample.mean(counts), sample.tailMean(counts)]).toEqual([NaN, NaN]);
      return;
    }
    expect(sample.mean(counts)).toBeCloseTo(mean(written), 9);
    expect(sample.tailMean(counts)).toBeCloseTo(mean(written.slice(-tailSize(written.length))), 9);
  });
});
