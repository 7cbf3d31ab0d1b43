/** Takes the sessions of `bench` as they end, keeps those accepted, and writes partial results and raw records. */

import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import type { BenchNotes } from '../../replay/browser/bench-notes.ts';
import type { PlayedRecord } from '../../replay/browser/record/session-record.ts';
import { makeFolder, writeError } from '../../replay/formats/write-file.ts';
import type { SessionResult } from '../../replay/results.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { Progress } from '../shared/progress.ts';
import { fileOf, rawFileOf, writeOutput } from '../shared/results-file.ts';
import type { Benchmark } from './benchmark.ts';
import { benchmarkJson } from './finish.ts';

export class SessionSink {
  readonly played: SessionResult[] = [];
  readonly progress: Progress;
  private readonly _file: string | undefined;
  /** The first session begins the raw file, unless `--resume` continues it. */
  private _rawFlag: 'w' | 'a';

  constructor(
    private readonly _benchmark: Benchmark,
    private readonly _notes: BenchNotes,
    private readonly _io: CommandIo,
  ) {
    const { out, done, remains, household } = _benchmark;
    this._file = fileOf(out);
    if (this._file) makeFolder(dirname(this._file));
    this._rawFlag = done.length > 0 ? 'a' : 'w';
    this.progress = new Progress(_io.stderr, remains.length, household ? 'households' : 'sessions');
  }

  get withNotes(): Benchmark {
    return { ...this._benchmark, tool: { ...this._benchmark.tool, bench: this._notes } };
  }

  add(sessions: readonly PlayedRecord[]): void {
    const { _notes: notes, played, _benchmark: benchmark, _io: io } = this;
    for (const session of sessions) {
      report(session, io);
      if (session.rejected === undefined) played.push(session.result);
      else notes.rejectedRuns++;
      const { userAgent, playerVersion } = session.record;
      const { player } = browserAlgorithm(session.planned.algorithm);
      Object.assign(notes, { userAgent, playerVersions: { ...notes.playerVersions, [player]: playerVersion } });
    }
    this.progress.update(played.length / benchmark.perLine);
    if (this._file === undefined) return;
    // The file is written at once, and first, so that a killed command or a full disk loses only the sessions under way.
    writeOutput(this._file, benchmarkJson(this.withNotes, played, false).json, io.stdout);
    this._appendRaw(this._file, sessions);
  }

  private _appendRaw(file: string, sessions: readonly PlayedRecord[]): void {
    const raw = rawFileOf(file);
    try {
      writeFileSync(raw, sessions.map(rawLine).join(''), { flag: this._rawFlag });
    } catch (error) {
      this._io.stderr.write(`${file} holds the finished sessions, --resume continues it\n`);
      throw writeError(raw, error);
    }
    this._rawFlag = 'a';
  }
}

function rawLine({ planned, ...session }: PlayedRecord): string {
  const { trace, ...rest } = planned;
  return `${JSON.stringify({ ...rest, trace: trace.name, dataset: trace.metadata.dataset, ...session })}\n`;
}

function report({ planned, attempt, rejected, result, inconsistencies }: PlayedRecord, { stderr }: CommandIo): void {
  const { household } = result;
  const seat = household ? ` as player ${household.player} of ${household.name}` : '';
  const name = `${planned.algorithm}${seat} on ${planned.trace.name} at ${planned.startSeconds} s`;
  if (rejected !== undefined) stderr.write(`rejected (attempt ${attempt}): ${name}: ${rejected}\n`);
  if (result.fault !== undefined) stderr.write(`fault: ${name}: ${result.fault}\n`);
  for (const difference of inconsistencies) stderr.write(`inconsistent: ${name}: ${difference}\n`);
}
