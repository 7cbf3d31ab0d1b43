/** The end of a benchmark: the results document and its table; of an unfinished one what `--resume` continues. */

import { assembleResults, partialHeadJson, resultsPieces } from '../../replay/evaluation/documents/assemble-results.ts';
import type { PlannedSession } from '../../replay/evaluation/plan/plan.ts';
import { SessionStore, sessionLine } from '../../replay/formats/session-store.ts';
import type { Results, SessionResult } from '../../replay/results.ts';
import { summaryTable } from '../report/summary-table.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from '../shared/exit-status.ts';
import { fileOf, printTable, writeOutput } from '../shared/results-file.ts';
import type { Benchmark } from './benchmark.ts';

/** The results document. `complete` false marks partial results, which `--resume` continues. */
export function benchmarkJson(
  benchmark: Benchmark,
  played: readonly SessionResult[],
  complete: boolean,
): { results: Results; json: Iterable<string> } {
  const { tool, scenario, algorithms, done } = benchmark;
  const results = assembleResults({
    tool: complete ? tool : { ...tool, complete: false },
    scenario,
    sessions: [...done, ...played],
    algorithms,
  });
  return { results, json: resultsPieces(results) };
}

interface Missing {
  why: string;
  status: number;
  /** Sessions, or lines of households, that will not be played. */
  lost?: readonly PlannedSession[];
}

/** Missing sessions make the results partial and end the command with `status`; `why` says what happened. */
export function finishBenchmark(
  benchmark: Benchmark,
  played: readonly SessionResult[],
  { stdout, stderr }: CommandIo,
  { why, status, lost = [] }: Missing = { why: 'interrupted', status: EXIT_INTERRUPTED },
): Results {
  const { out, done, plan, perLine } = benchmark;
  const isComplete = done.length + played.length >= plan.sessions.length * perLine;
  const { results, json } = benchmarkJson(benchmark, played, isComplete);
  const file = fileOf(out);
  if (file !== undefined || (isComplete && out !== undefined)) writeOutput(out!, json, stdout);
  if (isComplete) {
    printTable(summaryTable(results), out, { stdout, stderr });
    return results;
  }
  const hint =
    file === undefined
      ? 'nothing was written; with --out <file> it could be resumed'
      : `${file} holds the finished sessions, --resume continues it`;
  stderr.write(`${why}: ${hint}\n`);
  if (lost.length > 0) {
    const isLost = ({ dataset, trace: name, startSeconds }: SessionResult) =>
      lost.some(
        ({ trace, ...at }) =>
          trace.name === name && trace.metadata.dataset === dataset && at.startSeconds === startSeconds,
      );
    const kept = (all: readonly SessionResult[]) => all.filter((session) => !isLost(session));
    const names = lost.map(
      ({ algorithm, trace, startSeconds }) => `${algorithm} on ${trace.name} at ${startSeconds} s`,
    );
    stderr.write(`the table lacks, for every algorithm, the places of ${names.join(', ')}\n`);
    const rest = benchmarkJson({ ...benchmark, done: kept(done) }, kept(played), false).results;
    if (rest.sessions.length > 0) stderr.write(summaryTable(rest));
  }
  throw new ExitWith(status);
}

/** A place for finished sessions: partial results in `out`, so that a killed command loses none. */
export function sessionStore({ out, tool, scenario, done }: Benchmark): SessionStore {
  const file = fileOf(out);
  return file === undefined
    ? new SessionStore()
    : new SessionStore({ file, head: () => partialHeadJson({ tool, scenario }) + done.map(sessionLine).join('') });
}
