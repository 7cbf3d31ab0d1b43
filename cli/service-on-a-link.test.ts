/** Which services a session of MPC-L uses: that of its own link, not that of another one. */

import { expect, test } from '@jest/globals';
import { createController } from '../abr/algorithms.ts';
import { createBuiltInForecaster } from '../predictor/forecast/built-in-forecaster.ts';
import { ForecastChain } from '../predictor/forecast/chain.ts';
import { synthesizeShippedTraces } from '../replay/link-model/shipped-traces.ts';
import { SCENARIOS, traceScaleOf } from '../replay/scenarios.ts';
import { simulateSession } from '../replay/simulator/simulate-session.ts';
import { linkSteps, meanRateBps, type Trace, traceStartUtcMs, wrapSeconds } from '../replay/trace.ts';
import { syntheticDish } from '../service/index.ts';
import { SimulatedService } from './simulated-service.fixture.ts';

const SCENARIO = SCENARIOS['hd-16']!;
const TRACES = synthesizeShippedTraces();
/** The default of `leo-abr serve --dish simulated`. */
const OTHER = TRACES.find(({ name }) => name === 'stationary-typical')!;
/** Time for which the service has watched its dish. */
const WATCHED_SECONDS = 170;
const SEGMENTS = 8;

function capacityOf(trace: Trace, scale: number) {
  const startUtcMs = traceStartUtcMs(trace.metadata);
  return { startUtcMs, wrapSeconds: wrapSeconds(trace), ...linkSteps(trace, scale) };
}

/** A session of MPC-L on each shipped trace, with a service that watches this link or another one. */
function sessions({ isOfLink }: { isOfLink: boolean }) {
  return TRACES.map((trace) => {
    const scale = traceScaleOf(SCENARIO, meanRateBps(trace)) * SCENARIO.payloadShare;
    const service = new SimulatedService({
      utcMsAtStart: traceStartUtcMs(trace.metadata),
      dish: syntheticDish({ seed: 1, capacity: isOfLink ? capacityOf(trace, scale) : capacityOf(OTHER, 1) }),
      watchedSeconds: WATCHED_SECONDS,
    });
    const forecaster = new ForecastChain([service, createBuiltInForecaster()]);
    const controller = createController('mpc-l');
    simulateSession({ trace, scenario: SCENARIO, controller, segmentCount: SEGMENTS, forecaster });
    const { asked, used, gate } = service;
    return { trace: trace.name, verdict: gate.verdict(), usedShare: used / asked };
  });
}

test('a service of the link is used', () => {
  for (const { trace, verdict, usedShare } of sessions({ isOfLink: true })) {
    expect({ trace, verdict, isUsed: usedShare > 0.25 }).toEqual({ trace, verdict: 'trusted', isUsed: true });
  }
});

test('a service of a link four times as fast is not used, from its first forecast on', () => {
  for (const { trace, verdict, usedShare } of sessions({ isOfLink: false })) {
    expect({ trace, verdict, usedShare }).toEqual({ trace, verdict: 'contradicted', usedShare: 0 });
  }
});
