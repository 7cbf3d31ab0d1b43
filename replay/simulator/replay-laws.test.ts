/** Laws of a session's log: a new controller gives the same answers to it, also to a log that was JSON. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Controller, createController } from '../../abr/index.ts';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { decidedAgain, decisionRecord } from '../browser/record/decisions.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import { simulatedAlgorithm } from './algorithms.ts';
import { partsUpTo, traceOfParts } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import type { AnswerRecord } from './simulation-options.ts';

const session = fc.record({
  parts: partsUpTo(100, { maxLength: 8 }),
  startSeconds: between(0, 100),
  seed: whole(0, 1e6),
});
type Drawn = typeof session extends fc.Arbitrary<infer Value> ? Value : never;

function logOf({ parts, ...place }: Drawn, algorithm: string, scenarioName: string, segmentCount: number) {
  const scenario = resolveScenario(scenarioNamed(scenarioName));
  const task = { trace: traceOfParts(parts, 2), scenario, segmentCount, timings: false, ...place };
  const log: AnswerRecord[] = [];
  simulateSession({
    ...simulatedAlgorithm(algorithm)(task),
    cutoffSeconds: 30,
    onDecision: (record) => log.push(record),
  });
  return log;
}

function answerOf(controller: Controller, { asked, state, inFlight, forecast }: AnswerRecord) {
  if (asked === 'decide') return controller.decide(state, forecast);
  if (asked === 'pace') return controller.pace!(state, inFlight, forecast);
  return controller.reconsider!(state, inFlight!, forecast);
}

/** The log as `bench` writes it, with kept downloads as decisions, and without paces. */
const recordsOf = (log: readonly AnswerRecord[]) =>
  log.flatMap(({ asked, answer, state, inFlight, forecast }) => {
    if (asked === 'pace') return [];
    const decision = answer === 'keep' ? { representation: -1, controller: '', reason: '' } : answer;
    const kind = asked === 'decide' ? asked : 'abandon';
    return [decisionRecord({ kind, decision, state, inFlight, forecast }, '')];
  });

const SCENARIOS: [name: string, segmentCount: number][] = [
  ['uhd-16', 16],
  ['live-hd-1', 18],
];

// Live, the textbook's plan needs the segments that remain: `Infinity`, which JSON does not have.
test.each(['mpc-d', 'mpc-d:textbook', 'mpc-l', 'bola', 'throughput'])(
  '%s answers a log as in its session',
  (algorithm) => {
    const asked = new Set<string>();
    for (const scenario of SCENARIOS) {
      forAll([session], { seed: 1, numRuns: 12 }, (drawn) => {
        const log = logOf(drawn, algorithm, ...scenario);
        const controller = createController(algorithm, { seed: drawn.seed });
        expect(log.map((record) => answerOf(controller, record))).toEqual(log.map(({ answer }) => answer));
        // No answer depends on earlier ones.
        const records = JSON.parse(JSON.stringify(recordsOf(log).reverse()));
        for (const [recorded, again] of decidedAgain(records, { algorithm, seed: drawn.seed })) {
          expect(again).toBe(recorded < 0 ? 'keep' : recorded);
        }
        for (const record of log) asked.add(record.answer === 'keep' ? 'keep' : record.asked);
      });
    }
    expect([...asked].sort()).toEqual(algorithm === 'mpc-l' ? ['decide', 'keep', 'pace', 'reconsider'] : ['decide']);
  },
);
