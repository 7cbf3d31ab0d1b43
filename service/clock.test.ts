import { expect, test } from '@jest/globals';
import { SessionClock } from './clock.ts';
import { ManualClock } from './manual-clock.fixture.ts';

test('runs evenly while UTC leaps', () => {
  const clock = new ManualClock();
  const session = new SessionClock(clock);
  clock.advance(10);
  expect(session.check()).toBeUndefined();
  expect(session.nowSeconds()).toBe(10);
  expect(session.utcMsAt(10)).toBe(clock.utcMs());
  clock.leap(-3600);
  expect(session.check()).toEqual({ seconds: -3600, atMs: clock.utcMs() });
  expect(session.check()).toBeUndefined();
  expect(session.nowSeconds()).toBe(10);
  expect(session.secondsAt(clock.utcMs())).toBe(10);
  clock.leap(0.05);
  expect(session.check()).toBeUndefined();
  expect(session.secondsAt(clock.utcMs())).toBeCloseTo(10, 6);
});
