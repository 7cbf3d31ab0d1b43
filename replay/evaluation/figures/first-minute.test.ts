import { expect, test } from '@jest/globals';
import { PERCEIVED_PRICES } from '../../../abr/qoe/perceived-qoe.ts';
import { modelledQuality } from '../../../abr/qoe/quality.ts';
import { watchShare } from '../../../abr/state/watch-time.ts';
import type { SessionResult } from '../../results.ts';
import { testSession } from '../test-sessions.fixture.ts';
import { firstMinute } from './first-minute.ts';

const RULES = { ladderBps: [1e6, 2e6, 3e6, 4e6, 8e6], segmentSeconds: 4, segmentCount: 30, mu: 10, lambda: 1 };
const [SEGMENT] = testSession().segments;
const played = (bitrates: readonly number[], more: Partial<SessionResult> = {}) =>
  testSession({
    segments: bitrates.map((mbps, index) => ({ ...SEGMENT!, index, bitrateBps: mbps * 1e6, stallSeconds: 0 })),
    startupSeconds: 0,
    ...more,
  });
const steps = (...parts: [mbps: number, count: number][]) =>
  parts.flatMap(([mbps, n]) => new Array<number>(n).fill(mbps));

test('the first 60 s have what viewers see: quality, less stalls', () => {
  const even = played(steps([3, 30]));
  const late = played(steps([3, 15], [1, 15]));
  const stalled = played(steps([3, 30]));
  stalled.segments[2]!.stallSeconds = 1;
  const [first, second, third] = [even, late, stalled].map((one) => firstMinute(one, RULES).perceivedFirst60Seconds);
  expect(first).toBeCloseTo(modelledQuality({ bitrateBps: 3e6 }), 9);
  expect(second).toBe(first);
  expect(first! - third!).toBeCloseTo((PERCEIVED_PRICES.stall + PERCEIVED_PRICES.stallSecond) / 15, 9);
});

test('windows end within a segment, and count what happens before their end', () => {
  // 16 s at 1, then 8 Mbit/s: 30 s hold 16 s and 14 s, in units of 4 s; the change costs 7.
  const { qoeFirst30Seconds, qoeFirst60Seconds, rampSeconds } = firstMinute(played(steps([1, 4], [8, 26])), RULES);
  expect(qoeFirst30Seconds).toBeCloseTo((4 * 1 + 3.5 * 8 - 7) / 7.5, 9);
  expect(qoeFirst60Seconds).toBeCloseTo((4 * 1 + 11 * 8 - 7) / 15, 9);
  expect(rampSeconds).toBe(16);
});

test('startup and the stalls before a moment cost and delay', () => {
  const session = played(steps([1, 4], [8, 26]), { startupSeconds: 2 });
  session.segments[2]!.stallSeconds = 1;
  session.segments[20]!.stallSeconds = 5;
  const { qoeFirst30Seconds, rampSeconds } = firstMinute(session, RULES);
  expect(qoeFirst30Seconds).toBeCloseTo((4 * 1 + 3.5 * 8 - 7 - 10 * 3) / 7.5, 9);
  expect(rampSeconds).toBe(19);
});

test('the same loss weighs more at the beginning, by the share of viewers who are there', () => {
  const lossAt = (at: number, watchSeconds: number) => {
    const even = played(steps([3, 30]));
    const stalled = played(steps([3, 30]));
    stalled.segments[at]!.stallSeconds = 1;
    return firstMinute(even, RULES, watchSeconds).watchedQoe - firstMinute(stalled, RULES, watchSeconds).watchedQoe;
  };
  for (const watchSeconds of [30, 600]) {
    expect(lossAt(25, watchSeconds) / lossAt(0, watchSeconds)).toBeCloseTo(watchShare(100, watchSeconds), 9);
  }
  const short = firstMinute(played(steps([1, 15], [3, 15])), RULES);
  expect(short.watchedQoe30Seconds).toBeLessThan(short.watchedQoe);
  expect(short.watchedQoe).toBeLessThan(short.watchedQoe600Seconds);
  expect(lossAt(25, Number.POSITIVE_INFINITY)).toBeCloseTo(lossAt(0, Number.POSITIVE_INFINITY), 9);
});

test('segments that never arrived count as media of quality 0', () => {
  const { qoeFirst60Seconds, watchedQoe } = firstMinute(played(steps([3, 5]), { endedBy: 'cutoff' }), RULES);
  expect(qoeFirst60Seconds).toBeCloseTo(1, 9);
  expect(watchedQoe).toBeLessThan(3 * 0.7);
  // A session of five segments that played to its end is whole.
  expect(firstMinute(played(steps([3, 5])), RULES).qoeFirst60Seconds).toBeCloseTo(3, 9);
});
