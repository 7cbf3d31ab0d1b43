import { describe, expect, test } from '@jest/globals';
import { ConstantPath, PiecewisePath } from '../abr/index.ts';
import { informedForecaster, knownHandover } from './known-handover.ts';
import { synthesizeShippedTraces } from './link-model/shipped-traces.ts';
import { linkSteps, traceStartUtcMs } from './trace.ts';

const trace = synthesizeShippedTraces().find(({ name }) => name === 'stationary-live-handover')!;
const link = new PiecewisePath(linkSteps(trace, 1));
const trafficFrom = (startSeconds: number) => {
  const utcMsAtStart = traceStartUtcMs(trace.metadata) + startSeconds * 1000;
  return { link, startSeconds, utcMsAtStart, watchedSeconds: 90 };
};

describe('knownHandover', () => {
  test('is the next one on a link that has shown them', () => {
    for (const startSeconds of [75, 100]) {
      const phase = trace.metadata.handoverPhaseSeconds!;
      const next = (((phase - startSeconds) % 15) + 15) % 15;
      const known = knownHandover(trafficFrom(startSeconds))!;
      expect(Math.abs(known.atSeconds - next)).toBeLessThan(0.2);
      expect(known.confidence).toBeGreaterThan(0.9);
    }
  });

  test('is none without traffic, after a few seconds of it, and on a link without handovers', () => {
    expect(knownHandover(trafficFrom(0))).toBeUndefined();
    expect(knownHandover({ ...trafficFrom(75), watchedSeconds: 10 })).toBeUndefined();
    expect(knownHandover({ ...trafficFrom(75), link: new ConstantPath(1e8) })).toBeUndefined();
  });
});

// At second 11 by the schedule, too: the clock weighs both.
test('the forecaster announces what is known once it forecasts, and nothing unknown', () => {
  const announcedWith = (known: Parameters<typeof informedForecaster>[0]) => {
    const forecaster = informedForecaster(known);
    forecaster.start({ seed: 1, utcMsAtStart: 1_006_000, utcUncertaintySeconds: 0.01 });
    for (let i = 0; i < 20; i++) {
      const startSeconds = i * 0.1;
      forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: 2e6 });
    }
    return forecaster.latest(2)!.handovers.map(({ atMs }) => (atMs - 1_006_000) / 1000);
  };
  expect(announcedWith({ atSeconds: 11, uncertaintySeconds: 0.05, confidence: 0.98 })[0]).toBeCloseTo(11, 1);
  expect(announcedWith(undefined)).toEqual([]);
});
