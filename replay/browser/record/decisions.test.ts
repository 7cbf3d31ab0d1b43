/** Laws of a session's log: a new controller gives the same answers to it, also to a log that was JSON. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Controller, createController } from '../../../abr/index.ts';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { resolveScenario, scenarioNamed } from '../../scenario-file.ts';
import { SCENARIOS } from '../../scenarios.ts';
import { type SessionTask, simulatedAlgorithm } from '../../simulator/algorithms.ts';
import { partsUpTo, traceOfParts, traceUntil } from '../../simulator/made-up.fixture.ts';
import { simulateSession } from '../../simulator/play.ts';
import type { AnswerRecord, SimulationOptions } from '../../simulator/simulation-options.ts';
import { decidedAgain } from './decided-again.fixture.ts';
import { type DecisionRecord, decisionRecord } from './decisions.ts';

function logOf(algorithm: string, task: Omit<SessionTask, 'timings'>, more: Partial<SimulationOptions> = {}) {
  const log: AnswerRecord[] = [];
  const options = simulatedAlgorithm(algorithm)({ ...task, timings: false });
  simulateSession({ ...options, ...more, onDecision: (record) => log.push(record) });
  return log;
}

/** The log in JSON, with kept downloads as decisions for -1, and without paces. */
function recordsOf(log: readonly AnswerRecord[]): DecisionRecord[] {
  const records = log.flatMap(({ asked, answer, state, inFlight, forecast }) => {
    if (asked === 'pace') return [];
    const decision = answer === 'keep' ? { representation: -1, controller: '', reason: '' } : answer;
    const kind = asked === 'decide' ? asked : 'abandon';
    return [decisionRecord({ kind, decision, state, inFlight, forecast }, '')];
  });
  return JSON.parse(JSON.stringify(records));
}

const differences = (records: readonly DecisionRecord[], algorithm: string, seed: number) =>
  decidedAgain(records, { algorithm, seed }).filter(
    ([recorded, again]) => again !== (recorded < 0 ? 'keep' : recorded),
  );

function answerOf(controller: Controller, { asked, state, inFlight, forecast }: AnswerRecord) {
  if (asked === 'decide') return controller.decide(state, forecast);
  if (asked === 'pace') return controller.pace!(state, inFlight, forecast);
  return controller.reconsider!(state, inFlight!, forecast);
}

const drawn = fc.record({
  trace: partsUpTo(100, { maxLength: 8 }).map((parts) => traceOfParts(parts, 2)),
  startSeconds: between(0, 100),
  seed: whole(0, 1e6),
});

// Live, the textbook's plan needs the segments that remain: `Infinity`, which JSON does not have.
test.each(['mpc-d', 'mpc-d:textbook', 'mpc-l', 'bola', 'throughput'])(
  '%s answers a log as in its session',
  (algorithm) => {
    const asked = new Set<string>();
    for (const [name, segmentCount] of [['uhd-16', 16] as const, ['live-hd-1', 18] as const]) {
      const scenario = resolveScenario(scenarioNamed(name));
      forAll([drawn], { seed: 1, numRuns: 12 }, (place) => {
        const log = logOf(algorithm, { ...place, scenario, segmentCount }, { cutoffSeconds: 30 });
        const controller = createController(algorithm, { seed: place.seed });
        expect(log.map((record) => answerOf(controller, record))).toEqual(log.map(({ answer }) => answer));
        // No answer depends on earlier ones.
        expect(differences(recordsOf(log).reverse(), algorithm, place.seed)).toEqual([]);
        for (const record of log) asked.add(record.answer === 'keep' ? 'keep' : record.asked);
      });
    }
    const more = { 'mpc-l': ['keep', 'pace', 'reconsider'], throughput: ['keep', 'reconsider'] }[algorithm] ?? [];
    expect([...asked].sort()).toEqual(['decide', ...more]);
  },
);

/** With outages, so that downloads are abandoned. */
const outages = [20, 40, 60, 80].flatMap((until) => [
  { until, mbps: 70 },
  { until: until + 3, mbps: 1 },
]);
const scenario = resolveScenario({ ...SCENARIOS['uhd-8']!, mu: 77 });
const task = { trace: traceUntil(outages), scenario, startSeconds: 0, segmentCount: 24, seed: 3 };

test('each part of the record counts: state, forecast, prices and the download in flight', () => {
  const records = recordsOf(logOf('mpc-l', task));
  const differing = (change: (record: DecisionRecord) => Partial<DecisionRecord>) => {
    const changed = records.map((record) => ({ ...record, ...change(record) }));
    return differences(changed, 'mpc-l', task.seed).length;
  };
  expect(differing(() => ({}))).toBe(0);
  expect(differing(({ state }) => ({ state: { ...state, bufferLevelSeconds: 0.2 } }))).toBeGreaterThan(0);
  expect(differing(({ weights }) => ({ weights: { ...weights, mu: 1e6 } }))).toBeGreaterThan(0);
  const slower = (forecast: DecisionRecord['forecast']) =>
    forecast?.kind !== 'path' && forecast
      ? { ...forecast, quantilesBps: forecast.quantilesBps.map((row) => row.map((bps) => bps / 3)) }
      : undefined;
  expect(differing(({ forecast }) => ({ forecast: slower(forecast)! }))).toBeGreaterThan(0);
  const done = ({ inFlight }: DecisionRecord) =>
    inFlight ? { inFlight: { ...inFlight, receivedBits: inFlight.sizeBits } } : {};
  expect(differing(done)).toBeGreaterThan(0);
});

test('a path is not recorded, so its decisions are left out', () => {
  const records = recordsOf(logOf('mpc-o', task));
  expect(records.map(({ forecast }) => forecast?.source)).toEqual(Array(24).fill('oracle'));
  expect(records[0]!.forecast).not.toHaveProperty('path');
  expect(decidedAgain(records, { algorithm: 'mpc-o', seed: task.seed })).toEqual([]);
});
