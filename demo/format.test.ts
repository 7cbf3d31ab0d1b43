import { expect, test } from '@jest/globals';
import { bitrate, bytes, clock, decimal, megabits, seconds } from './format.ts';

test('throughputs have about two digits, and bitrates of a ladder have all', () => {
  const measured = [0, 3e5, 7.5e5, 1e6, 1.2e6, 2.85e6, 30e6, 119.6e6].map(megabits);
  expect(measured).toEqual(['0', '0.3', '0.75', '1', '1.2', '2.9', '30', '120']);
  expect([3e5, 1.85e6, 2.5e6, 120e6].map(bitrate)).toEqual(['0.3', '1.85', '2.5', '120']);
});

test('data have about two digits', () => {
  const data = [0, 4e6, 79e6, 304e6, 7992e6, 7999e6, 9.6e9, 96e9].map(bytes).map((text) => text.replace('\u00a0', ' '));
  expect(data).toEqual(['0.0 MB', '0.5 MB', '9.9 MB', '38 MB', '999 MB', '1.0 GB', '1.2 GB', '12 GB']);
});

test('times and numbers', () => {
  expect([0, 65.9, 600, -1].map(clock)).toEqual(['0:00', '1:05', '10:00', '0:00']);
  expect(seconds(2.345)).toBe('2.3\u00a0s');
  expect([1.25, -3.14, -0.01].map((value) => decimal(value))).toEqual(['1.3', '−3.1', '0.0']);
});
