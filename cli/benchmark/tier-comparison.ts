/** Compares sessions of `leo-abr bench` with the same ones of `leo-abr simulate`, and makes their decisions again. */

import { InputError, parsedJson } from '../../abr/errors.ts';
import { type DecisionRecord, decidedAgain } from '../../replay/browser/record/decisions.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { type TierAgreement, tierAgreement } from '../../replay/evaluation/figures/tier-agreement.ts';
import { linesOf, rawFileOf, readResults } from '../shared/results-file.ts';

/** Logged decisions of the accepted sessions, and how many of them the simulator's controller makes again. */
interface DecidedAgain {
  decisions: number;
  sameAgain: number;
}

export interface TierComparison {
  scenario: string;
  agreement: (TierAgreement & DecidedAgain)[];
}

/** A line of the raw file. */
interface RawSession {
  algorithm: string;
  seed: number;
  rejected?: string;
  record: { decisions: readonly DecisionRecord[] };
}

/** The raw file is read beside the bench's. Simulated sessions of other seeds count by their mean. @throws {InputError} for other files, or of different scenarios */
export function tierComparison(browserFile: string, simulatorFiles: readonly string[]): TierComparison {
  const { scenario, sessions, tool } = readResults(browserFile);
  const simulated = simulatorFiles.flatMap((file) => {
    const simulator = readResults(file);
    if (sameJson(scenario, simulator.scenario)) return simulator.sessions;
    throw new InputError(file, `the scenario of ${browserFile}`, undefined, 'another');
  });
  const again = new Map<string, DecidedAgain>();
  for (const { algorithm, seed, record } of acceptedSessions(rawFileOf(browserFile))) {
    const pairs = decidedAgain(record.decisions, { algorithm, seed });
    const { decisions = 0, sameAgain = 0 } = again.get(algorithm) ?? {};
    const same = pairs.filter(([recorded, chosen]) => recorded === chosen).length;
    again.set(algorithm, { decisions: decisions + pairs.length, sameAgain: sameAgain + same });
  }
  const agreement = tierAgreement(simulated, sessions, tool.seed);
  const none = { decisions: 0, sameAgain: 0 };
  return {
    scenario: scenario.name,
    agreement: agreement.map((row) => ({ ...row, ...(again.get(row.algorithm) ?? none) })),
  };
}

function* acceptedSessions(file: string): Generator<RawSession> {
  let number = 0;
  for (const line of linesOf(file)) {
    number++;
    if (line === '') continue;
    const session = parsedJson(line, `${file}:${number}`) as RawSession;
    const isComplete = session.record?.decisions?.every(({ weights }) => weights !== undefined);
    if (!isComplete) throw new InputError(`${file}:${number}`, 'a session of this bench with its decisions', session);
    if (session.rejected === undefined) yield session;
  }
}
