import { expect, test } from '@jest/globals';
import { RateLimit } from './rate-limit.ts';

test('each address may send a burst, then the sustained rate; a bounded number of addresses is remembered', () => {
  const limit = new RateLimit({ perSecond: 10, burst: 3 });
  const take = (atMs: number, address = 'first') => limit.take(address, atMs);
  expect([take(0), take(0), take(0), take(0), take(0, 'b'), take(100)]).toEqual([0, 0, 0, expect.closeTo(0.1), 0, 0]);
  expect(take(100)).toBeGreaterThan(0);
  for (let i = 0; i < 5000; i++) take(100, `address ${i}`);
  expect(take(100)).toBe(0);
});
