/**
 * What viewers notice of `trace record --active`. Nothing is measured beside a player (scavenger.test.ts), so only the
 * begin of a session can meet a measurement, and the end of a long pause, when the buffer is full. Here each session
 * does, and the measurement gives way 0.3 s after the first request. The budget limits the share of sessions that meet
 * one.
 */

import { expect, test } from '@jest/globals';
import { meansWithInterval } from '../../replay/evaluation/bootstrap.ts';
import { mean } from '../../replay/evaluation/quantiles.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import type { Traffic } from '../../replay/households.ts';
import type { SessionResult } from '../../replay/results.ts';
import { resolveScenario } from '../../replay/scenario-file.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { simulatedAlgorithm } from '../../replay/simulator/algorithms.ts';
import { playHousehold } from '../../replay/simulator/play-household.ts';
import { meanRateBps } from '../../replay/trace.ts';

const TRACES = readTraces(['replay/traces']).filter(({ name }) => !name.includes('-live-'));
const SCENARIO = resolveScenario(SCENARIOS['uhd-8']!);
/** The default of `--budget-mb-per-day`. */
const BUDGET_BITS = 2000 * 8e6;
const DAY_SECONDS = 86_400;
/** It leaves the player nothing, as TCP with a full queue might. */
const MEASUREMENT: Traffic = { fromSeconds: 0, toSeconds: 0.3, weight: 1000 };

test('QoE and stalls of a day of MPC-D differ by less than 0.5 %', () => {
  const starts = [0, 61, 122, 183, 244];
  const sessions = TRACES.flatMap((trace, unit) => starts.map((startSeconds) => ({ trace, unit, startSeconds })));
  const { segmentCount } = SCENARIO;
  const play = (traffic: Traffic[]): SessionResult[] =>
    sessions.map(({ trace, startSeconds }) => {
      const household = { name: 'home', players: [{ joinSeconds: 0, weight: 1 }], traffic };
      const task = { trace, scenario: SCENARIO, startSeconds, segmentCount, seed: 1, timings: false };
      return playHousehold(household, task, {
        algorithm: 'mpc-d',
        algorithmOf: (name) => simulatedAlgorithm(name),
      })[0]!;
    });
  const off = play([]);
  const on = play([MEASUREMENT]);
  on.forEach(({ startupSeconds }, i) => {
    expect(startupSeconds).toBeGreaterThan(off[i]!.startupSeconds);
  });
  const units = { unitOf: sessions.map(({ unit }) => unit), unitCount: TRACES.length, seed: 1 };
  for (const value of [({ qoe }: SessionResult) => qoe.linear, ({ stallSeconds }: SessionResult) => stallSeconds]) {
    const differences = sessions.map(({ trace }, i) => {
      const meetShare = BUDGET_BITS / meanRateBps(trace) / DAY_SECONDS;
      return meetShare * (value(on[i]!) - value(off[i]!));
    });
    const { ci95 } = meansWithInterval({ differences }, units).differences;
    for (const bound of ci95!) expect(Math.abs(bound)).toBeLessThan(0.005 * mean(off.map(value)));
  }
});
