/** Ends a benchmark with the results document and its table, or with partial results that `--resume` continues. */

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
  const { scenario, algorithms } = benchmark;
  const tool = complete ? benchmark.tool : { ...benchmark.tool, complete: false };
  const results = assembleResults({ tool, scenario, sessions: [...benchmark.done, ...played], algorithms });
  return { results, json: resultsPieces(results) };
}

/** `lost` has the sessions, or the lines of households, that will not be played. */
type Missing = { why: string; status: number; lost: readonly PlannedSession[] };

/** If sessions are missing, the results are partial and the command ends with `status`. `why` is the reason. */
export function finishBenchmark(
  benchmark: Benchmark,
  played: readonly SessionResult[],
  { stdout, stderr }: CommandIo,
  { why, status, lost }: Missing = { why: 'interrupted', status: EXIT_INTERRUPTED, lost: [] },
): Results {
  const { out, done, plan, perLine, wide } = benchmark;
  const isComplete = done.length + played.length >= plan.sessions.length * perLine;
  const { results, json } = benchmarkJson(benchmark, played, isComplete);
  const file = fileOf(out);
  if (file !== undefined || (isComplete && out !== undefined)) writeOutput(out!, json, stdout);
  if (isComplete) {
    printTable(summaryTable(results, { wide }), out, { stdout, stderr });
    return results;
  }
  const hint =
    file === undefined
      ? 'nothing was written; with --out <file> it could be resumed'
      : `${file} holds the finished sessions, --resume continues it`;
  stderr.write(`${why}: ${hint}\n`);
  if (lost.length > 0) {
    const keyOf = (...place: [dataset: string, trace: string, startSeconds: number]) => JSON.stringify(place);
    const lostKeys = lost.map(({ trace, startSeconds: at }) => keyOf(trace.metadata.dataset, trace.name, at));
    const isKept = (one: SessionResult) => !lostKeys.includes(keyOf(one.dataset, one.trace, one.startSeconds));
    const names = lost.map(({ algorithm, trace, startSeconds: at }) => `${algorithm} on ${trace.name} at ${at} s`);
    stderr.write(`the table lacks, for every algorithm, the places of ${names.join(', ')}\n`);
    const rest = benchmarkJson({ ...benchmark, done: done.filter(isKept) }, played.filter(isKept), false).results;
    if (rest.sessions.length > 0) stderr.write(summaryTable(rest, { wide }));
  }
  throw new ExitWith(status);
}

/** Keeps finished sessions as partial results in `out`, so that a killed command loses none. */
export function sessionStore({ out, tool, scenario, done }: Benchmark): SessionStore {
  const file = fileOf(out);
  // All lines together may be longer than a string can be.
  const head = () => [partialHeadJson({ tool, scenario }), ...done.map(sessionLine)];
  return new SessionStore(file === undefined ? undefined : { file, head });
}
