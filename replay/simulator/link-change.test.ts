/** Sessions that begin on one link and continue on another link, as from Wi-Fi to a dish or a phone. */

import { expect, test } from '@jest/globals';
import { createController, type QuantileForecast } from '../../abr/index.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { type Preset, synthesizeTrace } from '../link-model/synthesize-trace.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { meanRateBps, type Trace } from '../trace.ts';
import { traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import { linkOf } from './session-setup.ts';

/** The change is over for forecasts then. */
const RECOVERED_SECONDS = 10;
const AHEAD_SECONDS = 8;
const SCENARIO: Scenario = { ...SCENARIOS['hd-30']!, segmentCount: 30, traceScale: { factor: 1 } };

/** A trace's first seconds at another mean rate, from a second on. */
function stepsOf(trace: Trace, seconds: number, meanBps: number, beginSeconds = 0) {
  const scale = meanBps / meanRateBps(trace) / 1e6;
  const steps = Array.from(trace.stepEndsSeconds, (end, i) => {
    return { until: beginSeconds + end, mbps: trace.ratesBps[i]! * scale };
  });
  return steps.filter(({ until }) => until <= beginSeconds + seconds);
}

/** Mean |ln(median forecast / truth)| of the next 8 s, over the forecasts from the 10th to the 30th second of the link. */
function errorOn(trace: Trace, fromSeconds: number): number {
  const link = linkOf(trace, SCENARIO);
  const errors: number[] = [];
  simulateSession({
    ...{ trace, scenario: SCENARIO, seed: 1 },
    controller: createController('mpc-l', { seed: 1 }),
    forecaster: createBuiltInForecaster(),
    onDecision({ state: { nowSeconds }, forecast }) {
      const age = nowSeconds - fromSeconds;
      if (!forecast || age < RECOVERED_SECONDS || age > 30) return;
      const { stepEndsSeconds, quantilesBps } = forecast as QuantileForecast;
      let bits = 0;
      stepEndsSeconds.forEach((end, i) => {
        const seconds = Math.min(end, AHEAD_SECONDS) - Math.min(stepEndsSeconds[i - 1] ?? 0, AHEAD_SECONDS);
        const row = quantilesBps[i]!;
        bits += seconds * row[row.length >> 1]!;
      });
      const truth = link.cumulativeBits(nowSeconds + AHEAD_SECONDS) - link.cumulativeBits(nowSeconds);
      errors.push(Math.abs(Math.log(bits / truth)));
    },
  });
  expect(errors.length).toBeGreaterThan(3);
  return mean(errors);
}

const WIFI = synthesizeTrace({ preset: 'cable', seed: 1, durationSeconds: 120 });

/** The error after a change from Wi-Fi at a second; 0: without Wi-Fi. */
function errorAfterChange(preset: Preset, meanBps: number, atSeconds: number): number {
  const other = synthesizeTrace({ preset, seed: 2, durationSeconds: 120 });
  const steps = [...stepsOf(WIFI, atSeconds, 40e6), ...stepsOf(other, 120, meanBps, atSeconds)];
  return errorOn(traceUntil(steps, other.metadata), atSeconds);
}

test.each([
  ['a dish', 'stationary-calm', 10e6, 60],
  ['a faster dish', 'stationary-calm', 120e6, 60],
  ['a phone', 'lte', 8e6, 60],
  // Another host of the stream.
  ['a server with a tenth', 'cable', 4e6, 60],
] as const)('10 s after a change to %s forecasts are as good as without the time before', (_, preset, meanBps, at) => {
  const control = errorAfterChange(preset, meanBps, 0);
  expect(errorAfterChange(preset, meanBps, at)).toBeLessThan(1.25 * control + 0.05);
});

test('10 s after a change to a server with a tenth, which comes early, forecasts are near', () => {
  expect(errorAfterChange('cable', 4e6, 12)).toBeLessThan(0.2);
});
