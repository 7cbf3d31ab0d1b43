/**
 * Keeps what the service saw, in a folder: `records-<UTC>.jsonl` with everything, a line each, and `trace-<UTC>.csv` with
 * its sidecar, the capacity that players reported second by second, which `leo-abr trace`, `simulate` and `train` read.
 * New files are begun every few hours; the oldest ones go when there are too many or they are too old.
 */

import { mkdir, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Observation } from '../../abr/forecast.ts';
import type { ObservationsRequest, StateReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { AppendFile, type OpenFile, repairEnd } from './append-file.ts';
import { TraceRows } from './trace-rows.ts';

export interface RecorderOptions {
  directory: string;
  /** All files of the folder that are the recorder's, together. */
  maxBytes: number;
  maxAgeDays: number;
  clock: Clock;
  problems: Problems;
  /** For the sidecar of traces: a place in words or rounded degrees. */
  place?: () => string | undefined;
  /** Default: that of `node:fs/promises`. */
  open?: OpenFile;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FILE_MS = 6 * HOUR_MS;
const SYNC_MS = 5000;
const TIDY_MS = HOUR_MS / 4;
/** Lines that wait for a full disk to have room again: hours of them. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
const OURS = /^(records|trace)-\d{8}T\d{6}Z\.(jsonl|csv|json)$/;
const RETRY_MS = 5000;

export class Recorder {
  readonly #options: RecorderOptions;
  #records: AppendFile | undefined;
  #rows: TraceRows | undefined;
  /** From the first row on: a trace of nothing is no trace. */
  #trace: AppendFile | undefined;
  #startedMs = Number.NaN;
  #syncedMs = 0;
  #tidiedMs = Number.NEGATIVE_INFINITY;
  #retryMs = Number.NEGATIVE_INFINITY;
  #linesBefore = 0;
  #dropped = 0;
  /** Files that are full, with what still waits to be written to them. */
  #closing: AppendFile[] = [];
  #flushing: Promise<void> | undefined;
  #newestPing: TelemetrySecond | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Makes the folder, and mends what a crash left. Rejects where that cannot be done. */
  async open(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true });
    for (const name of await readdir(directory)) {
      if (OURS.test(name) && !name.endsWith('.json')) await repairEnd(join(directory, name));
    }
    await this.#tidy();
  }

  status(): StateReply['recording'] {
    const files = this.#files();
    return {
      directory: resolve(this.#options.directory).split(/[\\/]/).at(-1)!,
      lines: this.#linesBefore + files.reduce((sum, file) => sum + file.lines, 0),
      waiting: files.reduce((sum, file) => sum + file.waitingLines, 0),
    };
  }

  telemetry(second: TelemetrySecond): void {
    this.#newestPing = second;
    this.#add({ kind: 'telemetry', ...second });
  }

  report({ player, observations }: ObservationsRequest): void {
    this.#add({ kind: 'report', atMs: this.#options.clock.utcMs(), player, observations });
  }

  event(type: string, data: unknown): void {
    this.#add({ kind: type, atMs: this.#options.clock.utcMs(), data });
  }

  /** What the link delivered, in order of time; `utcMsAt` gives the UTC of a second of it. */
  observation(observation: Observation, utcMsAt: (seconds: number) => number): void {
    if (observation.kind === 'request-latency') return;
    this.#begin();
    this.#rows ??= new TraceRows();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const text = this.#rows.add(observation, isFresh ? ping : undefined);
    if (text === '') return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#trace.append(text, text.split('\n').length - 1);
  }

  /** UTC has leapt: a trace is of one clock. */
  onLeap(): void {
    this.#endTrace();
  }

  /** Writes what waits. To be called once a second; never rejects: problems are reported. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Writes out and ends all files. What a full disk does not take is lost then, and said to be. */
  async close(): Promise<void> {
    await this.#flushing;
    this.#endFiles();
    this.#retryMs = Number.NEGATIVE_INFINITY;
    await this.flush();
    for (const file of this.#closing.splice(0)) await file.close().catch(() => {});
  }

  #add(record: object): void {
    this.#begin();
    const { problems } = this.#options;
    const waiting = this.#files().reduce((sum, file) => sum + file.waitingBytes, 0);
    if (waiting > MOST_WAITING_BYTES) {
      this.#dropped++;
      problems.report('recording', 'dropped', `${this.#dropped} lines, because the disk has not taken any for long`);
      return;
    }
    this.#records!.append(`${JSON.stringify(record)}\n`);
  }

  /** A new file where the last one is old enough. */
  #begin(): void {
    const { clock, directory, open } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#records !== undefined && nowMs - this.#startedMs < FILE_MS) return;
    this.#endFiles();
    this.#startedMs = nowMs;
    this.#records = new AppendFile(join(directory, `records-${stampOf(clock.utcMs())}.jsonl`), open);
  }

  /** `startMs`: UTC of its first row. */
  #beginTrace(startMs: number): AppendFile {
    const { directory, open, place } = this.#options;
    const name = `trace-${stampOf(startMs)}`;
    const where = place?.() ?? 'unknown place';
    const startUtc = new Date(startMs).toISOString();
    const sidecar = {
      dataset: 'recorded',
      recording_group: `${where} ${startUtc.slice(0, 10)}`,
      location: where,
      start_utc: startUtc,
      source: 'leo-abr serve: what players reported, with the ping of the dish',
    };
    void writeWhole(join(directory, `${name}.json`), `${JSON.stringify(sidecar, null, 2)}\n`).catch((error: unknown) =>
      this.#fail(error),
    );
    return new AppendFile(join(directory, `${name}.csv`), open);
  }

  #endTrace(): void {
    if (this.#trace !== undefined) this.#closing.push(this.#trace);
    this.#trace = undefined;
    this.#rows = undefined;
  }

  #endFiles(): void {
    this.#endTrace();
    if (this.#records !== undefined) this.#closing.push(this.#records);
    this.#records = undefined;
  }

  #files(): AppendFile[] {
    return [...this.#closing, ...(this.#records ? [this.#records] : []), ...(this.#trace ? [this.#trace] : [])];
  }

  async #flush(): Promise<void> {
    const { clock, problems } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#retryMs) return;
    try {
      for (const file of this.#files()) await file.flush();
      if (nowMs - this.#syncedMs >= SYNC_MS) {
        this.#syncedMs = nowMs;
        for (const file of this.#files()) await file.sync();
      }
      for (const file of this.#closing.splice(0)) {
        if (file.waitingLines > 0) {
          this.#closing.push(file);
          break;
        }
        this.#linesBefore += file.lines;
        await file.sync();
        await file.close();
      }
      if (nowMs - this.#tidiedMs >= TIDY_MS) await this.#tidy();
      problems.clear('recording', 'failed');
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const { clock, problems } = this.#options;
    this.#retryMs = clock.monotonicMs() + RETRY_MS;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? message);
    problems.report('recording', 'failed', `${reason}; lines wait to be written`);
  }

  /** Removes the oldest files until the rest is within the limits. */
  async #tidy(): Promise<void> {
    const { directory, maxBytes, maxAgeDays, clock } = this.#options;
    this.#tidiedMs = clock.monotonicMs();
    const open = new Set(this.#files().map((file) => file.path));
    const files: { path: string; bytes: number; stamp: string; ageMs: number }[] = [];
    for (const name of await readdir(directory)) {
      if (!OURS.test(name)) continue;
      const path = join(directory, name);
      const { size, mtimeMs } = await stat(path);
      files.push({ path, bytes: size, stamp: name.replace(/^\w+-/, ''), ageMs: clock.utcMs() - mtimeMs });
    }
    files.sort((a, b) => (a.stamp < b.stamp ? -1 : 1));
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const { path, bytes, ageMs } of files) {
      if (open.has(path) || open.has(path.replace(/\.json$/, '.csv'))) continue;
      if (total <= maxBytes && ageMs <= maxAgeDays * DAY_MS) continue;
      await unlink(path);
      total -= bytes;
    }
  }
}

/** `20260131T235959Z`. */
function stampOf(utcMs: number): string {
  return new Date(utcMs).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** There whole or not at all. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
