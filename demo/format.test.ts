import { expect, test } from '@jest/globals';
import { bitrate, clock, decimal, megabits, seconds } from './format.ts';

test('throughputs have about two digits, and bitrates of a ladder have all', () => {
  const measured = [0, 3e5, 7.5e5, 1e6, 1.2e6, 2.85e6, 30e6, 119.6e6].map(megabits);
  expect(measured).toEqual(['0', '0.3', '0.75', '1', '1.2', '2.9', '30', '120']);
  expect([3e5, 1.85e6, 2.5e6, 120e6].map(bitrate)).toEqual(['0.3', '1.85', '2.5', '120']);
});

test('times and numbers', () => {
  expect([0, 65.9, 600, -1].map(clock)).toEqual(['0:00', '1:05', '10:00', '0:00']);
  expect(seconds(2.345)).toBe('2.3\u00a0s');
  expect([1.25, -3.14, -0.01].map((value) => decimal(value))).toEqual(['1.3', '−3.1', '0.0']);
});
