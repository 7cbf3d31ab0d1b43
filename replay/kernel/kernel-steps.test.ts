import { describe, expect, test } from '@jest/globals';
import { SCENARIOS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { kernelSteps, NO_IMPAIRMENT, STARLINK_IMPAIRMENT } from './kernel-steps.ts';

const scenario = SCENARIOS['uhd-8']!;
const trace: Trace = {
  name: 't',
  stepEndsSeconds: Float64Array.of(10, 20, 30),
  ratesBps: Float64Array.of(10e6, 0, 30e6),
  durationSeconds: 30,
  // Second 57: handovers at 0 and 15 s of the trace.
  metadata: { dataset: 'd', recordingGroup: 'g', epochPhaseSeconds: 57 },
};

const totalBits = ({ steps }: ReturnType<typeof kernelSteps>) => {
  let from = 0;
  let bits = 0;
  for (const { endSeconds, bps } of steps) {
    bits += (endSeconds - from) * bps;
    from = endSeconds;
  }
  return bits;
};

describe('kernelSteps', () => {
  test('equals the trace without impairment', () => {
    const found = kernelSteps(trace, scenario, { startSeconds: 0, impairment: NO_IMPAIRMENT });
    expect(found).toEqual({
      wrapSeconds: 30,
      steps: [
        { endSeconds: 10, bps: 10e6, loss: 0, extraDelaySeconds: 0 },
        { endSeconds: 20, bps: 0, loss: 0, extraDelaySeconds: 0 },
        { endSeconds: 30, bps: 30e6, loss: 0, extraDelaySeconds: 0 },
      ],
    });
  });

  test('begins at the start of the session, and wraps', () => {
    const { steps } = kernelSteps(trace, scenario, { startSeconds: 55, impairment: NO_IMPAIRMENT });
    expect(steps.map(({ endSeconds, bps }) => [endSeconds, bps])).toEqual([
      [5, 30e6],
      [15, 10e6],
      [25, 0],
      [30, 30e6],
    ]);
  });

  test('adds loss and delay at handovers, for any start; the rates stay', () => {
    for (const startSeconds of [0, 7, 14.98, 15.02]) {
      const found = kernelSteps(trace, scenario, { startSeconds, impairment: STARLINK_IMPAIRMENT });
      const ends = found.steps.map(({ endSeconds }) => endSeconds);
      expect(ends).toEqual([...ends].sort((a, b) => a - b));
      expect(ends.at(-1)).toBeCloseTo(30, 9);
      expect(totalBits(found)).toBeCloseTo(400e6, 3);
      let from = 0;
      let handover = 0;
      for (const { endSeconds, loss, extraDelaySeconds } of found.steps) {
        expect([0.01, 0.02]).toContain(loss);
        expect(extraDelaySeconds).toBe(loss === 0.02 ? 0.02 : 0);
        if (loss === 0.02) handover += endSeconds - from;
        from = endSeconds;
      }
      expect(handover).toBeCloseTo(2 * 0.045, 9);
    }
  });

  test("uses the trace's own loss; without a clock there are no handovers", () => {
    const lossy: Trace = {
      ...trace,
      loss: Float64Array.of(0.05, Number.NaN, 0),
      metadata: { dataset: 'd', recordingGroup: 'g' },
    };
    const { steps } = kernelSteps(lossy, scenario, { startSeconds: 0, impairment: STARLINK_IMPAIRMENT });
    expect(steps.map(({ loss }) => loss)).toEqual([0.05, 0.01, 0]);
  });
});
