/**
 * MPC-L in whole sessions on synthetic links with the true forecast. live-mpc-l-sessions.test.ts has faulty forecasts.
 */

import { expect, test } from '@jest/globals';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { type Preset, synthesizeTrace } from '../link-model/synthesize-trace.ts';
import { resolveScenario } from '../scenario-file.ts';
import { SCENARIOS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
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
