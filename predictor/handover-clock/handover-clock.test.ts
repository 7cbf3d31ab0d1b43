import { describe, expect, test } from '@jest/globals';
import { HandoverClock } from './handover-clock.ts';

describe('HandoverClock', () => {
  test('knows nothing before the session starts, the schedule after', () => {
    const clock = new HandoverClock();
    expect(clock.estimate(0)).toBeUndefined();
    // 20 s after a full minute: the next reconfiguration is due at :27.
    clock.start({ seed: 0, utcMsAtStart: Date.UTC(2025, 0, 1, 12, 0, 20), utcUncertaintySeconds: 0.1 });
    const { phaseSeconds, nextHandovers, leoProbability } = clock.estimate(0)!;
    expect(phaseSeconds).toBeCloseTo(7, 0);
    expect(leoProbability).toBeCloseTo(0.5);
    expect(nextHandovers).toEqual([]);
  });
});
