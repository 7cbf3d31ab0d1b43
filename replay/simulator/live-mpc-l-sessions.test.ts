/** MPC-L in whole live sessions: with faulty forecasts, at the live edge, on an idle link, and in bursts of media. */

import { beforeAll, expect, test } from '@jest/globals';
import type { Forecast, Forecaster, QuantileForecast } from '../../abr/index.ts';
import { scaledForecast } from '../../abr/random-states.fixture.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { createController } from '../algorithms.ts';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { readTraceFile } from '../formats/trace-files.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { EXACT, traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import type { SimulationOptions } from './simulation-options.ts';

const TYPICAL = readTraceFile('replay/traces/stationary-live-typical.csv');
const BOTH = [...TYPICAL, ...readTraceFile('replay/traces/stationary-live-collapse.csv')];
const SCENARIO = { ...SCENARIOS['live-hd-1']!, segmentCount: 40 };

const builtIn = () => createBuiltInForecaster();

function forecasterOf(change: (forecast: Forecast) => Forecast | undefined = (forecast) => forecast): Forecaster {
  const inner = builtIn();
  return {
    name: 'changed',
    start: (context) => inner.start(context),
    observe: (observation) => inner.observe(observation),
    latest: (nowSeconds) => {
      const forecast = inner.latest(nowSeconds);
      return forecast && change(forecast);
    },
  };
}

test('a stream that has just begun waits once, before the first picture, and then has its target', () => {
  const scenario = { ...SCENARIOS['live-begun-3']!, segmentCount: 10 };
  const { live, segments, startupSeconds } = simulateSession({
    ...{ trace: traceUntil([{ until: 60, mbps: 20 }]), scenario: { ...scenario, traceScale: { factor: 1 } } },
    ...{ controller: createController('mpc-l'), forecaster: builtIn() },
  });
  expect(live!).toMatchObject({ stallsPerMinute: 0, offRateShare: 0 });
  expect(live!.latencySecondsP95).toBeCloseTo(3, 1);
  expect(startupSeconds).toBeLessThan(2.6);
  expect(segments[3]!.bitrateBps).toBeGreaterThan(10e6);
});

type More = (trace: Trace) => Partial<SimulationOptions>;

function meanLive(name: string, more: More | undefined, scenario: Scenario, traces = TYPICAL) {
  const play = (trace: Trace) =>
    simulateSession({ trace, scenario, controller: createController(name), ...more?.(trace) });
  const sessions = traces.map((trace) => play(trace).live!);
  const meanOf = (name: 'qoe' | 'offRateShare' | 'stallsPerMinute') => mean(sessions.map((live) => live[name]));
  return { qoe: meanOf('qoe'), off: meanOf('offRateShare'), stalls: meanOf('stallsPerMinute') };
}

const scaled = (factor: number) => (forecast: Forecast) => scaledForecast(forecast as QuantileForecast, factor);

const FAULTS: Readonly<Record<string, More>> = {
  'an empty one': () => ({ forecaster: forecasterOf(() => ({}) as Forecast) }),
  'one that is ten times too high': () => ({ forecaster: forecasterOf(scaled(10)) }),
  'one that is a thousand times too low': () => ({ forecaster: forecasterOf(scaled(1e-3)) }),
  'one of an hour ago': () => ({ forecaster: forecasterOf((one) => ({ ...one, issuedAtMs: one.issuedAtMs - 3.6e6 })) }),
  'a clock that is wrong by 7 s': () => ({ forecaster: forecasterOf(), utcErrorSeconds: 7 }),
  'a clock that is wrong by an hour': () => ({ forecaster: forecasterOf(), utcErrorSeconds: 3607 }),
};

/** MPC-D's QoE at two target latencies. */
let references: { scenario: Scenario; mpcD: number }[];
beforeAll(() => {
  references = [1, 3].map((targetLatencySeconds) => {
    const scenario = { ...SCENARIO, live: { ...SCENARIO.live!, targetLatencySeconds } };
    return { scenario, mpcD: meanLive('mpc-d', undefined, scenario).qoe };
  });
});

test.each(Object.keys(FAULTS))('%s: at most 2 %% of live QoE below MPC-D with the default catch-up', (fault) => {
  for (const { scenario, mpcD } of references) {
    expect(meanLive('mpc-l', FAULTS[fault], scenario).qoe).toBeGreaterThan(0.98 * mpcD);
  }
});

test('a second behind the edge it stalls less, at more QoE, than a player that takes the throughput, with rate 1 most of the time', () => {
  const scenario = { ...SCENARIO, segmentCount: 100 };
  const mpcL = meanLive('mpc-l', () => ({ forecaster: forecasterOf() }), scenario, BOTH);
  const throughput = meanLive('throughput', undefined, scenario, BOTH);
  expect(mpcL.stalls).toBeLessThan(throughput.stalls);
  expect(mpcL.qoe).toBeGreaterThan(1.05 * throughput.qoe);
  expect(mpcL.off).toBeLessThan(0.25);
});

/** Records MPC-L with this target on an idle link, in a session that joins at another latency. */
function joined(joinSeconds: number, targetLatencySeconds: number) {
  const controller = createController('mpc-l');
  const { decide, pace } = controller;
  const at = <T extends { live?: object }>(one: T): T => ({ ...one, live: { ...one.live!, targetLatencySeconds } });
  const ticks: { atSeconds: number; rate: number; lateSeconds: number }[] = [];
  const chosen: number[] = [];
  controller.decide = (state, forecast) => {
    const decision = decide.call(controller, at(state), forecast);
    chosen.push(decision.representation);
    return decision;
  };
  controller.pace = (state, inFlight, forecast) => {
    const lateSeconds = state.live!.latencySeconds - targetLatencySeconds;
    ticks.push({ atSeconds: state.nowSeconds, rate: state.playbackRate, lateSeconds });
    return { ...pace!.call(controller, at(state), inFlight, forecast), keepsForSeconds: 0 };
  };
  controller.reconsider = () => 'keep';
  simulateSession({
    trace: traceUntil([{ until: 300, mbps: 100 }], { startUtcMs: 0 }),
    scenario: {
      ...{ ...SCENARIO, traceScale: { meanBps: 100e6 }, segmentCount: 100 },
      live: { ...SCENARIO.live!, targetLatencySeconds: joinSeconds },
    },
    controller,
    forecaster: forecasterOf(),
  });
  const arrival = ticks.findIndex(({ lateSeconds }) => Math.abs(lateSeconds) <= 0.1);
  return { ticks, chosen, arrivedSeconds: ticks[arrival]?.atSeconds, there: ticks.slice(arrival + 100) };
}

test.each([
  ['at the target', 1, 1, 15],
  ['at the target', 3, 3, 5],
  ['2 s below it', 0.65, 2.65, 45],
  ['2 s above it', 5, 3, 130],
])(
  'on an idle link a session that joins %s goes there and stays there at rate 1',
  (_, joinSeconds, target, withinSeconds) => {
    const { arrivedSeconds, there, chosen } = joined(joinSeconds, target);
    expect(arrivedSeconds).toBeLessThan(withinSeconds);
    for (const { lateSeconds } of there) expect(Math.abs(lateSeconds)).toBeLessThan(0.1);
    expect(there.filter(({ rate }) => rate === 1).length / there.length).toBeGreaterThan(0.95);
    expect(chosen.slice(2)).not.toContain(0);
  },
);

/** Variable bitrate: every other minute has a fifth of the declared bitrates, the others have 1.6 times as much. */
function burstsOf(targetLatencySeconds: number): ResolvedScenario {
  const { live, ...base } = SCENARIOS['live-hd-1']!;
  const ladderBps = [1e6, 2.5e6, 5e6, 8e6, 12e6, 16e6];
  const share = (segment: number) => (Math.floor(segment / 30) % 2 === 0 ? 0.2 : 1.6);
  const bits = (bps: number, segment: number) => 8 * Math.round((bps * base.segmentSeconds * share(segment)) / 8);
  return {
    ...{ ...base, ladderBps, traceScale: { factor: 1 }, segmentCount: 180 },
    live: { ...live!, targetLatencySeconds },
    segmentSizesBits: Array.from({ length: 180 }, (_, segment) => ladderBps.map((bps) => bits(bps, segment))),
  };
}

test.each([
  ['mpc-l', 'hardly stalls', 0, 0.8],
  ['mpc-d', 'does not stall', 0, 0.5],
  ['throughput', 'takes what the link carries of the declared bitrates, and stalls', 20, Number.POSITIVE_INFINITY],
])('in bursts after quiet minutes %s %s', (algorithm, _, leastSeconds, mostSeconds) => {
  let stallSeconds = 0;
  for (const scenario of [1, 3].map(burstsOf)) {
    for (const mbps of [6, 10, 14]) {
      const session = simulateSession({
        trace: traceUntil([{ until: 600, mbps }], { startUtcMs: 0 }),
        scenario,
        controller: createController(algorithm, { seed: 1 }),
        learnsSizes: true,
        ...(algorithm === 'mpc-l' && { objective: 'perceived', forecaster: builtIn() }),
      });
      stallSeconds += session.stallSeconds;
    }
  }
  expect(stallSeconds).toBeGreaterThanOrEqual(leastSeconds);
  expect(stallSeconds).toBeLessThan(mostSeconds);
});

test.each([3, 4, 6])(
  '%s s behind live, a link that collapses for 20 s hardly stalls playback',
  (targetLatencySeconds) => {
    const { live, ...base } = SCENARIOS['live-hd-3']!;
    const stalls: number[] = [];
    for (const chunkSeconds of [0.5, 2]) {
      for (const [mbps, atSeconds] of [
        [25, 15],
        [25, 16.25],
        [8, 15.5],
        [8, 16.25],
      ] as const) {
        const { stallSeconds } = simulateSession({
          trace: traceUntil([
            { until: atSeconds, mbps },
            { until: atSeconds + 20, mbps: 0.7 },
            { until: 400, mbps },
          ]),
          scenario: {
            ...{ ...base, ...EXACT, ladderBps: [250e3, 500e3, 1e6, 2e6, 4.5e6], segmentCount: 32, mu: 4.5 },
            live: { ...live!, chunkSeconds, targetLatencySeconds },
          },
          controller: createController('mpc-l', { seed: 1 }),
          objective: 'perceived',
          learnsSizes: true,
          forecaster: builtIn(),
          onDecision({ asked, answer, state, inFlight }) {
            if (asked !== 'pace' || !inFlight?.recent || inFlight.recent.bps >= inFlight.bitrateBps) return;
            if (state.bufferLevelSeconds < 2) expect(answer.playbackRate).toBeLessThanOrEqual(1);
          },
        });
        stalls.push(stallSeconds);
      }
    }
    expect(Math.max(...stalls)).toBeLessThan(2);
    expect(mean(stalls)).toBeLessThan(0.7);
  },
);
