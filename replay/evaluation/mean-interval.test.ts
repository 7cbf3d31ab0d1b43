import { describe, expect, test } from '@jest/globals';
import { meansWithInterval, type UnitsOfSample } from './mean-interval.ts';

const units = { unitOf: [0, 0, 1, 2, 2, 3], unitCount: 4, seed: 3 };

const meanWithInterval = (values: number[], of: UnitsOfSample) => meansWithInterval({ values }, of).values;

describe('meansWithInterval', () => {
  test('gives the mean, inside its interval', () => {
    const { value, ci95 } = meanWithInterval([1, 2, 3, 4, 5, 6], units);
    expect(value).toBe(3.5);
    expect(ci95![0]).toBeLessThan(3.5);
    expect(ci95![1]).toBeGreaterThan(3.5);
  });

  test('means of components add up, and shifted samples have shifted intervals', () => {
    const values = [1, 2, 3, 4, 5, 6];
    const { own, shifted, twice } = meansWithInterval(
      { own: values, shifted: values.map((value) => value + 10), twice: values.map((value) => 2 * value) },
      units,
    );
    expect(shifted.ci95![0]).toBeCloseTo(own.ci95![0] + 10, 9);
    expect(twice.ci95![1]).toBeCloseTo(2 * own.ci95![1], 9);
  });

  test('a constant has an interval of width 0; one unit has no interval', () => {
    expect(meanWithInterval([2, 2, 2, 2, 2, 2], units)).toEqual({ value: 2, ci95: [2, 2] });
    expect(meanWithInterval([1, 2], { unitOf: [0, 0], unitCount: 1, seed: 1 })).toEqual({ value: 1.5, ci95: null });
    expect(meanWithInterval([], { unitOf: [], unitCount: 0, seed: 1 })).toEqual({ value: Number.NaN, ci95: null });
  });
});
