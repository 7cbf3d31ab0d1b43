import { expect, test } from '@jest/globals';
import { bitrate, clock, decimal, megabits, seconds } from './format.ts';

test.each([
  [0, '0'],
  [3e5, '0.3'],
  [7.5e5, '0.75'],
  [1e6, '1'],
  [1.2e6, '1.2'],
  [2.85e6, '2.9'],
  [30e6, '30'],
  [119.6e6, '120'],
])('megabits(%d) is %s', (bps, text) => {
  expect(megabits(bps)).toBe(text);
});

test.each([
  [3e5, '0.3'],
  [1.85e6, '1.85'],
  [2.5e6, '2.5'],
  [120e6, '120'],
])('bitrate(%d) is %s', (bps, text) => {
  expect(bitrate(bps)).toBe(text);
});

test('times and numbers', () => {
  expect([clock(0), clock(65.9), clock(600), clock(-1)]).toEqual(['0:00', '1:05', '10:00', '0:00']);
  expect(seconds(2.345)).toBe('2.3\u00a0s');
  expect([decimal(1.25), decimal(-3.14), decimal(-0.01)]).toEqual(['1.3', '−3.1', '0.0']);
});
