import { expect, test } from '@jest/globals';
import { rateSeriesOf } from './rate-series.ts';
import { subSecondStatistics } from './sub-second.ts';
import { synthesizeTrace } from './synthesize-trace.ts';

const valuesOf = (series: Parameters<typeof subSecondStatistics>[0]) =>
  new Map(subSecondStatistics(series).map(({ name, value }) => [name, value]));

/** 100 Mbit/s for 10 min; each handover (12.1 s after second 0) lowers these bins from 0.1 s before it on. */
function dips(mbps: readonly number[]) {
  const rates = new Float64Array(6000).fill(100);
  for (let bin = 120; bin + mbps.length <= rates.length; bin += 150) rates.set(mbps, bin);
  return { mbps: rates, epochPhaseSeconds: 59.9, group: 'g' };
}

test('depth, length below half and zero bins of dips that are known', () => {
  const values = valuesOf([dips([30, 10, 45, 60])]);
  expect(values.get('depth at a handover, median')).toBeCloseTo(0.9, 9);
  expect(values.get('depth in mid-epoch, median')).toBe(0);
  expect(values.get('below half at a handover, mean s')).toBeCloseTo(0.3, 9);
  expect(values.get('handovers below half for over 0.5 s, %')).toBe(0);
  expect(values.get('zero bins at handovers, %')).toBe(0);

  // Six zeros, of which the last is no longer near the handover: 1 s in 15 is.
  const long = valuesOf([dips([100, 100, 100, 0.5, 0, 0, 0, 0, 0])]);
  expect(long.get('handovers below half for over 0.5 s, %')).toBe(100);
  expect(long.get('zero bins at handovers, %')).toBeCloseTo(50, 9);
  expect(long.get('zero bins elsewhere, %')).toBeCloseTo(100 / 140, 9);
});

test('without a phase there are rates and autocorrelation, but no handovers', () => {
  const values = valuesOf([{ ...dips([10]), epochPhaseSeconds: undefined }]);
  expect(values.get('p50 of 0.1 s, Mbit/s')).toBe(100);
  expect(values.get('autocorrelation of 0.1 s at 0.1 s')).toBeGreaterThan(-0.1);
  expect(values.get('depth at a handover, median')).toBeNaN();
});

test.each([
  ['stationary-live', [0.65, 0.8], [0.1, 0.3]],
  ['inter-satellite-live', [0.85, 1], [0.5, 0.85]],
] as const)('%s has deep and short dips at its handovers', (preset, atHandover, inMidEpoch) => {
  const traces = Array.from({ length: 4 }, (_, seed) =>
    synthesizeTrace({ preset, seed, durationSeconds: 600, stepSeconds: 0.1 }),
  );
  const values = valuesOf(traces.map((trace) => rateSeriesOf(trace, 0.1)));
  const within = (name: string, [from, to]: readonly [number, number]) => {
    expect(values.get(name)).toBeGreaterThan(from);
    expect(values.get(name)).toBeLessThan(to);
  };
  within('depth at a handover, median', atHandover);
  within('depth in mid-epoch, median', inMidEpoch);
  within('below half at a handover, mean s', [0.1, 0.5]);
});
