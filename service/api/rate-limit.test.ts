import { expect, test } from '@jest/globals';
import { RateLimit } from './rate-limit.ts';

test('each address may send a burst, then the sustained rate', () => {
  const limit = new RateLimit({ perSecond: 10, burst: 3 });
  for (let i = 0; i < 3; i++) expect(limit.take('a', 0)).toBe(0);
  expect(limit.take('a', 0)).toBeCloseTo(0.1);
  expect(limit.take('b', 0)).toBe(0);
  expect(limit.take('a', 100)).toBe(0);
  expect(limit.take('a', 100)).toBeGreaterThan(0);
});

test('remembers a bounded number of addresses', () => {
  const limit = new RateLimit({ perSecond: 1, burst: 1 });
  limit.take('first', 0);
  expect(limit.take('first', 0)).toBeGreaterThan(0);
  for (let i = 0; i < 5000; i++) limit.take(`address ${i}`, 0);
  expect(limit.take('first', 0)).toBe(0);
});
