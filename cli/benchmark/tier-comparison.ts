/** Compares sessions of `leo-abr bench` with the same sessions of `simulate`, and makes their decisions again. */

import { check, InputError, parsedJson } from '../../abr/errors.ts';
import { type DecisionRecord, decidedAgain } from '../../replay/browser/record/decisions.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { type TierAgreement, tierAgreement } from '../../replay/evaluation/figures/tier-agreement.ts';
import { remembered } from '../../replay/remembered.ts';
import { linesOf, rawFileOf, readResults } from '../shared/results-file.ts';

/** Counts the logged decisions of the accepted sessions, and the decisions that the simulator's controller repeats. */
type DecidedAgain = { decisions: number; sameAgain: number };

export type TierComparison = { scenario: string; agreement: (TierAgreement & DecidedAgain)[] };

/** A line of the raw file. */
interface RawSession {
  algorithm: string;
  seed: number;
  rejected?: string;
  record: { decisions: readonly DecisionRecord[] };
}

/**
 * Reads the raw file beside `browserFile`. If simulations have several seeds, their mean counts.
 * @throws {InputError} for files of another kind or of different scenarios
 */
export function tierComparison(browserFile: string, simulatorFiles: readonly string[]): TierComparison {
  const { scenario, sessions, tool } = readResults(browserFile);
  const simulated = simulatorFiles.flatMap((file) => {
    const simulator = readResults(file);
    if (sameJson(scenario, simulator.scenario)) return simulator.sessions;
    throw new InputError(file, `the scenario of ${browserFile}`, undefined, 'another');
  });
  const again = new Map<string, DecidedAgain>();
  const countsOf = (algorithm: string) => remembered(again, algorithm, () => ({ decisions: 0, sameAgain: 0 }));
  for (const { algorithm, seed, record } of acceptedSessions(rawFileOf(browserFile))) {
    const pairs = decidedAgain(record.decisions, { algorithm, seed });
    countsOf(algorithm).decisions += pairs.length;
    countsOf(algorithm).sameAgain += pairs.filter(([recorded, chosen]) => recorded === chosen).length;
  }
  const agreement = tierAgreement(simulated, sessions, tool.seed);
  return { scenario: scenario.name, agreement: agreement.map((row) => ({ ...row, ...countsOf(row.algorithm) })) };
}

function* acceptedSessions(file: string): Generator<RawSession> {
  let number = 0;
  for (const line of linesOf(file)) {
    number++;
    if (line === '') continue;
    const session = parsedJson(line, `${file}:${number}`) as RawSession;
    const isComplete = session.record?.decisions?.every(({ weights }) => weights !== undefined) ?? false;
    check(isComplete, `${file}:${number}`, 'a session of this bench with its decisions', session);
    if (session.rejected === undefined) yield session;
  }
}
