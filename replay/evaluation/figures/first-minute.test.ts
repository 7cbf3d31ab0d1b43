import { expect, test } from '@jest/globals';
import { PERCEIVED_PRICES } from '../../../abr/qoe/perceived-qoe.ts';
import { modelledQuality } from '../../../abr/qoe/quality.ts';
import type { SessionResult } from '../../results.ts';
import { testSession } from '../test-sessions.fixture.ts';
import { firstMinute } from './first-minute.ts';

const RULES = { ladderBps: [1e6, 2e6, 3e6, 4e6, 8e6], segmentSeconds: 4, segmentCount: 30 };
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

test('the ramp ends with 80 % of the later bitrate; startup and the stalls before it delay it', () => {
  const session = played(steps([1, 4], [8, 26]));
  expect(firstMinute(session, RULES).rampSeconds).toBe(16);
  session.segments[2]!.stallSeconds = 1;
  session.segments[20]!.stallSeconds = 5;
  expect(firstMinute({ ...session, startupSeconds: 2 }, RULES).rampSeconds).toBe(19);
});

test('segments that never arrived count as media of quality 0', () => {
  const whole = firstMinute(played(steps([3, 5])), RULES).perceivedFirst60Seconds;
  expect(whole).toBeCloseTo(modelledQuality({ bitrateBps: 3e6 }), 9);
  const cut = firstMinute(played(steps([3, 5]), { endedBy: 'cutoff' }), RULES).perceivedFirst60Seconds;
  expect(cut).toBeLessThan(0.4 * whole!);
});
