import { expect, test } from '@jest/globals';
import { ServerClock } from './server-clock.ts';

const OFFSET = 1.7e12;

test('the clock of the service is unknown before the first response', () => {
  const clock = new ServerClock();
  expect(clock.isKnown).toBe(false);
  expect(clock.utcMsAt(5)).toBeNaN();
  clock.sample(10, 5, OFFSET);
  clock.sample(5, 10, Number.NaN);
  expect(clock.isKnown).toBe(false);
});

test('uses the middle of the shortest round trip', () => {
  const clock = new ServerClock();
  clock.sample(0, 200, OFFSET + 150);
  expect(clock.utcMsAt(0)).toBe(OFFSET + 50);
  clock.sample(1000, 1010, OFFSET + 1005);
  expect(clock.utcMsAt(0)).toBe(OFFSET);
  clock.sample(2000, 2100, OFFSET + 2090);
  expect(clock.utcMsAt(0)).toBe(OFFSET);
  expect(clock.pageMsAt(clock.utcMsAt(123))).toBe(123);
});

test('follows a drift of some minutes, and a leap at once', () => {
  const clock = new ServerClock();
  clock.sample(0, 10, OFFSET + 5);
  clock.sample(600_000, 600_020, OFFSET + 600_010 + 12);
  expect(clock.utcMsAt(600_000)).toBe(OFFSET + 600_012);
  clock.sample(601_000, 601_080, OFFSET - 3_600_000 + 601_040);
  expect(clock.utcMsAt(601_000)).toBe(OFFSET - 3_600_000 + 601_000);
});
