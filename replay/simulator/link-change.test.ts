/** A session that begins on one link and goes on over another, as from Wi-Fi to a dish or a phone. */

import { expect, test } from '@jest/globals';
import { createController, type QuantileForecast } from '../../abr/index.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { unpackModel } from '../../predictor/forecast/model-file.ts';
import { SHIPPED_MODEL } from '../../predictor/forecast/shipped-model.ts';
import { synthesizeTrace } from '../link-model/synthesize-trace.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { meanRateBps, type Trace } from '../trace.ts';
import { linkOf } from './session-setup.ts';
import { simulateSession } from './simulate-session.ts';

const CHANGE_SECONDS = 60;
/** The change is over for forecasts then. */
const RECOVERED_SECONDS = 10;
const AHEAD_SECONDS = 8;
const SCENARIO: Scenario = { ...SCENARIOS['hd-30']!, segmentCount: 30, traceScale: { factor: 1 } };
const model = unpackModel(SHIPPED_MODEL);

/** A trace's first seconds at another mean rate. */
function scaled(trace: Trace, seconds: number, meanBps: number): Pick<Trace, 'stepEndsSeconds' | 'ratesBps'> {
  const factor = meanBps / meanRateBps(trace);
  const steps = trace.stepEndsSeconds.findIndex((end) => end >= seconds) + 1;
  return {
    stepEndsSeconds: trace.stepEndsSeconds.slice(0, steps),
    ratesBps: trace.ratesBps.slice(0, steps).map((bps) => bps * factor),
  };
}

function spliced(first: ReturnType<typeof scaled> | undefined, second: ReturnType<typeof scaled>, like: Trace): Trace {
  const at = first?.stepEndsSeconds.at(-1) ?? 0;
  const stepEndsSeconds = Float64Array.from([
    ...(first?.stepEndsSeconds ?? []),
    ...second.stepEndsSeconds.map((end) => at + end),
  ]);
  const ratesBps = Float64Array.from([...(first?.ratesBps ?? []), ...second.ratesBps]);
  return { ...like, stepEndsSeconds, ratesBps, durationSeconds: stepEndsSeconds.at(-1)! };
}

/** Mean |ln(median forecast / truth)| of the next 8 s, over the forecasts from the 10th to the 30th second of the link. */
function errorOn(trace: Trace, fromSeconds: number): number {
  const link = linkOf(trace, SCENARIO);
  const errors: number[] = [];
  simulateSession({
    ...{ trace, scenario: SCENARIO, seed: 1 },
    controller: createController('mpc-l', { seed: 1 }),
    forecaster: createBuiltInForecaster({ model }),
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
  expect(errors.length).toBeGreaterThan(10);
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

const WIFI = synthesizeTrace({ preset: 'cable', seed: 1, durationSeconds: 120 });

test.each([
  ['a dish', 'stationary-calm', 10e6],
  ['a faster dish', 'stationary-calm', 120e6],
  ['a phone', 'lte', 8e6],
] as const)('10 s after a change to %s forecasts are as good as without the time before', (_, preset, meanBps) => {
  const other = synthesizeTrace({ preset, seed: 2, durationSeconds: 120 });
  const second = scaled(other, 120, meanBps);
  const control = errorOn(spliced(undefined, second, other), 0);
  const changed = errorOn(spliced(scaled(WIFI, CHANGE_SECONDS, 40e6), second, other), CHANGE_SECONDS);
  expect(changed).toBeLessThan(1.25 * control + 0.05);
});
