import { expect, test } from '@jest/globals';
import type { PlannedSession } from '../../evaluation/plan/plan.ts';
import { testTrace } from '../../evaluation/test-sessions.fixture.ts';
import type { ResolvedScenario } from '../../results.ts';
import { SCENARIOS } from '../../scenarios.ts';
import { browserSessionResult } from './browser-session-result.ts';
import { LADDER_BPS, recordedSession, SIZES_BITS } from './recorded-session.fixture.ts';

const media = { ladderBps: LADDER_BPS, mu: 2, segmentCount: 3, segmentSizesBits: SIZES_BITS };
const scenario: ResolvedScenario = { ...SCENARIOS['uhd-8']!, ...media };
const trace = testTrace('a trace', 60, 'made up', 'desk');
const planned: PlannedSession = { trace, startSeconds: 61, segmentCount: 3, algorithm: 'mpc-d', seed: 7 };

test('a result has one row per segment, with the downloads and stalls of all its requests', () => {
  const result = browserSessionResult(recordedSession(), { planned, scenario, timings: false });
  const row = { bitrateBps: 1e6, sizeBits: 4e6, bufferLevelSeconds: 0, stallSeconds: 0, abandonedBits: 0 };
  expect(result.segments).toEqual([
    { ...row, index: 0, requestedAtSeconds: 0, downloadSeconds: 1, reason: 'because of 0' },
    {
      ...{ ...row, index: 1, requestedAtSeconds: 1, downloadSeconds: 5.5, reason: 'because of 1' },
      ...{ stallSeconds: 1.55, abandonedBits: 1e6 },
    },
    {
      ...{ ...row, index: 2, requestedAtSeconds: 6.6, downloadSeconds: 1.4, reason: 'because of 2' },
      ...{ bitrateBps: 2e6, sizeBits: 8e6, bufferLevelSeconds: 3.9 },
    },
  ]);
  expect(result).toMatchObject({ trace: 'a trace', dataset: 'made up', group: 'desk', startSeconds: 61, seed: 7 });
  expect(result).toMatchObject({ algorithm: 'mpc-d', endedBy: 'end', startupSeconds: 1, switches: 1, switchBps: 1e6 });
  expect(result).toMatchObject({ stallSeconds: 1.55, stallCount: 1, wastedBits: 1e6 });
  // (1 + 1 + 2) - 2 * (1 + 1.55) - 1, per segment of 4 s.
  expect(result.qoe.linear).toBeCloseTo((4 - 5.1 - 1) / 3, 6);
  expect(result).not.toHaveProperty('decisionMicros');
});

test('an unfinished session keeps its stalls and received bits', () => {
  const whole = recordedSession();
  const record = { ...whole, endedBy: 'cutoff' as const, requests: whole.requests.slice(0, 2) };
  const result = browserSessionResult(record, { planned, scenario, timings: true });
  expect(result.segments.map(({ index }) => index)).toEqual([0]);
  expect(result).toMatchObject({ endedBy: 'cutoff', stallSeconds: 1.55, wastedBits: 1e6 });
  expect(result.decisionMicros).toEqual({ p50: 200, p99: expect.closeTo(298, 9) });
  expect(Number.isFinite(result.qoe.linear)).toBe(true);
});

test('without any picture the startup delay lasts to the end of the session', () => {
  const { startupSeconds, ...rest } = recordedSession();
  const record = { ...rest, endedBy: 'fault' as const, fault: 'why', stalls: [] };
  const result = browserSessionResult(record, { planned, scenario, timings: false });
  expect(result).toMatchObject({ endedBy: 'fault', fault: 'why', startupSeconds: 8 });
});
