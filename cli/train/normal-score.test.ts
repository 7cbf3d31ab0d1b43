import { describe, expect, test } from '@jest/globals';
import { normalQuantile } from '../../abr/normal-distribution.ts';
import { normalScore } from './normal-score.ts';

describe('normalScore', () => {
  const levels = [0.1, 0.5, 0.9];

  test('is linear between quantiles and beyond them', () => {
    const tenth = normalQuantile(0.1);
    expect(normalScore([1, 2, 4], levels, 2)).toBeCloseTo(0, 12);
    expect(normalScore([1, 2, 4], levels, 1)).toBeCloseTo(tenth, 12);
    expect(normalScore([1, 2, 4], levels, 3)).toBeCloseTo(-tenth / 2, 12);
    expect(normalScore([1, 2, 4], levels, 0)).toBeCloseTo(2 * tenth, 12);
    expect(normalScore([1, 2, 4], levels, 6)).toBeCloseTo(-2 * tenth, 12);
  });

  test('handles equal quantiles', () => {
    expect(normalScore([1, 1, 2], levels, 1)).toBe(0);
    expect(normalScore([1, 1, 2], levels, 0.5)).toBe(Number.NEGATIVE_INFINITY);
  });
});
