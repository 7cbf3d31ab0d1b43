import { expect, test } from '@jest/globals';
import { watchShare } from './watch-time.ts';

test('half of the viewers leave before the median, fewer and fewer of the rest later; nobody leaves without one', () => {
  expect(watchShare(0, 30)).toBe(1);
  expect(watchShare(30, 30)).toBeCloseTo(0.5, 9);
  const lost = (seconds: number) => 1 - watchShare(seconds + 10, 30) / watchShare(seconds, 30);
  expect(lost(60)).toBeLessThan(lost(0) / 2);
  expect(watchShare(3600, Number.POSITIVE_INFINITY)).toBe(1);
});
