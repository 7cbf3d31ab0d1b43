import { expect, test } from '@jest/globals';
import { resolveScenario } from '../../scenario-file.ts';
import { SCENARIOS } from '../../scenarios.ts';
import { simulatedAlgorithm } from '../../simulator/algorithms.ts';
import { traceUntil } from '../../simulator/made-up.fixture.ts';
import { simulateSession } from '../../simulator/play.ts';
import { type DecisionRecord, decidedAgain, decisionRecord } from './decisions.ts';

const SEED = 3;
const scenario = resolveScenario({ ...SCENARIOS['uhd-8']!, mu: 77 });
/** With outages, so that downloads are abandoned. */
const trace = traceUntil(
  [20, 40, 60, 80].flatMap((until) => [
    { until, mbps: 70 },
    { until: until + 3, mbps: 1 },
  ]),
);

/** The decisions of a simulated session, as JSON has them. */
function recordsOf(algorithm: string): DecisionRecord[] {
  const records: DecisionRecord[] = [];
  const task = { trace, scenario, startSeconds: 0, segmentCount: 24, seed: SEED, timings: false };
  simulateSession({
    ...simulatedAlgorithm(algorithm)(task),
    onDecision({ asked, state, inFlight, forecast, answer: decision }) {
      if (asked === 'pace' || decision === 'keep') return;
      const kind = asked === 'decide' ? asked : 'abandon';
      records.push(decisionRecord({ kind, decision, state, inFlight, forecast }, `${decision.representation}`));
    },
  });
  return JSON.parse(JSON.stringify(records));
}

test('each part of the record counts: state, forecast, prices and the download in flight', () => {
  const records = recordsOf('mpc-l');
  const differing = (change: (record: DecisionRecord) => Partial<DecisionRecord>) =>
    decidedAgain(
      records.map((record) => ({ ...record, ...change(record) })),
      { algorithm: 'mpc-l', seed: SEED },
    ).filter(([recorded, again]) => recorded !== again).length;
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
  const records = recordsOf('mpc-o');
  expect(records.map(({ forecast }) => forecast?.source)).toEqual(Array(24).fill('oracle'));
  expect(records[0]!.forecast).not.toHaveProperty('path');
  expect(decidedAgain(records, { algorithm: 'mpc-o', seed: SEED })).toEqual([]);
});
