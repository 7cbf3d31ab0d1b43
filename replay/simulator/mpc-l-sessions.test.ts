/** MPC-L in whole sessions on synthetic links: with the true forecast, and with faulty forecasters. */

import { beforeAll, expect, test } from '@jest/globals';
import type { Forecast, Forecaster, QuantileForecast } from '../../abr/index.ts';
import { scaledForecast } from '../../abr/random-states.fixture.ts';
import { createController } from '../algorithms.ts';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { type Preset, synthesizeTrace } from '../link-model/synthesize-trace.ts';
import { resolveScenario } from '../scenario-file.ts';
import { SCENARIOS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { simulateSession } from './play.ts';
import { sessionPlayer } from './threads/run-sessions.ts';

const traceOf = (preset: Preset, seed: number) => synthesizeTrace({ preset, seed, durationSeconds: 300 });

const onDemand = Object.keys(SCENARIOS).filter((name) => !SCENARIOS[name]!.live);
test.each(onDemand)('%s is played to the end by mpc-l@oracle, and better than by mpc-d', (name) => {
  const scenario = resolveScenario(SCENARIOS[name]!);
  const { segmentCount } = scenario;
  const player = sessionPlayer({ scenario, controllers: new Map() });
  const play = (algorithm: string, trace: Trace) =>
    player({ trace, startSeconds: 0, segmentCount, seed: 1, algorithm })[0]!;
  const traces = [traceOf('stationary-hard', 1), traceOf('driving-udp', 2), traceOf('lte', 3)];
  const gains = traces.map((trace) => {
    const session = play('mpc-l@oracle', trace);
    expect(session.fault).toBeUndefined();
    expect(session.endedBy).toBe('end');
    expect(session.segments).toHaveLength(segmentCount);
    return session.qoe.perceived! - play('mpc-d', trace).qoe.perceived!;
  });
  expect(mean(gains)).toBeGreaterThan(0);
});

/** Publishes the mean rate of the last 8 s with a spread of a half, modified by `change`: mediocre without it. */
function measuringForecaster(change: (forecast: QuantileForecast) => Forecast | undefined): Forecaster {
  const windowSeconds = 8;
  let observed: { endSeconds: number; seconds: number; bits: number }[] = [];
  return {
    name: 'measuring',
    start() {
      observed = [];
    },
    observe(observation) {
      if (observation.kind !== 'throughput') return;
      const { startSeconds, endSeconds, bits } = observation;
      observed.push({ endSeconds, seconds: endSeconds - startSeconds, bits });
      while (observed[0]!.endSeconds < endSeconds - windowSeconds) observed.shift();
    },
    latest(nowSeconds) {
      const seconds = observed.reduce((sum, one) => sum + one.seconds, 0);
      if (seconds < 0.5) return undefined;
      const bps = observed.reduce((sum, one) => sum + one.bits, 0) / seconds;
      const row = [0.6, 1, 1.5].map((share) => share * bps);
      const steps = { stepEndsSeconds: [2, 4, 8], levels: [0.1, 0.5, 0.9], quantilesBps: [row, row, row] };
      const issued = { issuedAtMs: nowSeconds * 1000, source: 'measuring' };
      return change({ ...issued, ...steps, rankCorrelation: 0.7, handovers: [] });
    },
  };
}

/** Faults by name; each session gets a new forecaster. */
const FAULTS: Readonly<Record<string, () => (forecast: QuantileForecast) => Forecast | undefined>> = {
  'publishes NaN': () => (forecast) => scaledForecast(forecast, Number.NaN),
  'always repeats its first forecast': () => {
    let first: QuantileForecast | undefined;
    return (forecast) => (first ??= forecast);
  },
  'publishes s as ms': () => (forecast) => ({ ...forecast, issuedAtMs: forecast.issuedAtMs / 1000 }),
  'publishes a thousand times the rate': () => (forecast) => scaledForecast(forecast, 1000),
  'is 10 s late': () => {
    const made: QuantileForecast[] = [];
    return (forecast) => {
      made.push(forecast);
      while (made.length > 1 && made[1]!.issuedAtMs <= forecast.issuedAtMs - 10e3) made.shift();
      return made[0]!.issuedAtMs <= forecast.issuedAtMs - 10e3 ? made[0] : undefined;
    };
  },
};

const scenario = SCENARIOS['uhd-8']!;
const topQoe = scenario.ladderBps.at(-1)! / 1e6;
const traces = (['stationary-hard', 'stationary', 'driving-udp', 'driving-tcp', 'lte', 'cable'] as const).flatMap(
  (preset) => [traceOf(preset, 1), traceOf(preset, 2)],
);
const played = (algorithm: string, forecaster?: () => Forecaster) =>
  mean(
    traces.map((trace) => {
      const more = forecaster && { forecaster: forecaster() };
      const session = simulateSession({ trace, scenario, controller: createController(algorithm), ...more });
      expect(session.fault).toBeUndefined();
      expect(session.endedBy).toBe('end');
      return session.qoe.linear;
    }),
  );
let reference: number;
beforeAll(() => {
  reference = played('mpc-d');
});

test('a correct forecaster increases the QoE', () => {
  expect(played('mpc-l', () => measuringForecaster((forecast) => forecast))).toBeGreaterThan(reference);
});

test.each(Object.keys(FAULTS))('a forecaster that %s costs at most 1 %% against mpc-d', (fault) => {
  const qoe = played('mpc-l', () => measuringForecaster(FAULTS[fault]!()));
  expect(qoe).toBeGreaterThan(reference - 0.01 * topQoe);
});
