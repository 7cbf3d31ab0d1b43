import { expect, test } from '@jest/globals';
import { DeliveredTimeline } from './delivered-timeline.ts';

test('gives the mean rate while in use', () => {
  const timeline = new DeliveredTimeline(20);
  timeline.add(0, 2, 2e6);
  timeline.add(3, 5, 6e6);
  expect(timeline.rateBps(0, 2, 0.5)).toBeCloseTo(1e6, 3);
  expect(timeline.rateBps(3.25, 4.75, 0.5)).toBeCloseTo(3e6, 3);
  expect(timeline.rateBps(0, 5, 0.5)).toBeCloseTo(2e6, 3);
});

test('gives NaN for times with little use', () => {
  const timeline = new DeliveredTimeline(20);
  timeline.add(0, 1, 1e6);
  expect(timeline.rateBps(0, 4, 0.5)).toBeNaN();
  expect(timeline.rateBps(0, 4, 0.2)).toBeCloseTo(1e6, 3);
  expect(timeline.rateBps(10, 12, 0)).toBeNaN();
});

test('keeps as many seconds as given', () => {
  const timeline = new DeliveredTimeline(10);
  for (let second = 0; second < 100; second++) timeline.add(second, second + 1, 1e6 * second);
  expect(timeline.rateBps(91, 92, 0.9)).toBeCloseTo(91e6, 0);
  expect(timeline.rateBps(0, 50, 0)).toBeNaN();
  // 22 cells of half a second, of which the newest is still empty.
  expect(timeline.rateBps(0, 100, 0) / 1e6).toBeCloseTo((0.5 * 89 + 10 * 94.5) / 10.5, 3);
  // A piece that is longer than that fills the same 10.5 s.
  timeline.add(100, 200, 100e6);
  expect(timeline.rateBps(0, 200, 10.4 / 200)).toBeCloseTo(1e6, 3);
  expect(timeline.rateBps(0, 200, 10.6 / 200)).toBeNaN();
});

test('forgets the time before a long pause', () => {
  const timeline = new DeliveredTimeline(10);
  timeline.add(0, 1, 1e6);
  timeline.add(1000, 1001, 5e6);
  expect(timeline.rateBps(990, 1001, 0)).toBeCloseTo(5e6, 3);
});
