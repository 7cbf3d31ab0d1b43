/**
 * Records what the service observes in a folder: all records as lines of `records-<UTC>_<n>.jsonl`, and the reported
 * capacity per second as `trace-<UTC>_<n>.csv` with a sidecar, for `leo-abr trace`, `simulate` and `train`. If a write
 * fails (full disk), its lines wait, and the next write replaces what it has left.
 */

import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Observation } from '../../abr/forecast.ts';
import type { StateReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { type FolderLock, ifMissing, lockFolder } from './folder-lock.ts';
import { type FileSystem, RecordingFolder, type RecordingFolderOptions } from './recording-folder.ts';
import { TraceRows } from './trace-rows.ts';

export interface RecorderOptions extends Omit<RecordingFolderOptions, 'files' | 'onNotice'> {
  clock: Clock;
  problems: Problems;
  /** Location for the sidecars of traces, in words or rounded degrees. */
  place?: () => string | undefined;
  /** Receives which recordings were deleted. */
  onNotice?: ((message: string) => void) | undefined;
  /** Default: `node:fs/promises`. */
  files?: FileSystem;
}

/** Lines could not be recorded. The message says how many, and why. */
export class LostLinesError extends Error {
  override readonly name = 'LostLinesError';
}

interface RecordingFile {
  stem: string;
  path: string;
  /** Monotonic. */
  beganMs: number;
  /** Complete lines that are not in the file yet. */
  waiting: string[];
  writtenBytes: number;
  syncedMs: number;
  /** The last write has failed, perhaps in the middle. */
  isTorn: boolean;
  /** No more lines follow. */
  isEnded: boolean;
}

const FILE_MS = 6 * 3_600_000;
/** Files are rotated at the limit divided by this, so that deleting one keeps most of the recordings. */
const FILES_WITHIN_LIMIT = 8;
const LINES_PER_WRITE = 1000;
const SYNC_MS = 5000;
/** Lines that may wait for a full disk: hours of them. */
const MOST_WAITING_SIZE = 64e6;
/** Longest wait of a reply for the disk. */
const MOST_ANSWER_DELAY_MS = 100;

export class Recorder {
  readonly #options: RecorderOptions & { files: FileSystem };
  readonly #folder: RecordingFolder;
  #lock: FolderLock | undefined;
  /** An earlier start has recorded the dish's history until then, UTC in ms. */
  #recordedUntilMs = Number.NEGATIVE_INFINITY;
  #newestPing: TelemetrySecond | undefined;
  #records: RecordingFile | undefined;
  #rows = new TraceRows();
  /** Created with the first row. */
  #trace: RecordingFile | undefined;
  /** Files to which lines will be written, in the order of their beginning. */
  readonly #open = new Set<RecordingFile>();
  #waitingSize = 0;
  #writing: Promise<void> | undefined;
  #lines = 0;
  #lost = 0;
  /** Reason of the last failed write. */
  #reason = 'more arrived at once than the folder may hold';

  constructor(options: RecorderOptions) {
    this.#options = { files: nodeFiles, ...options };
    const { onNotice = () => {} } = options;
    this.#folder = new RecordingFolder({ ...this.#options, onNotice });
  }

  /**
   * Creates the folder and repairs files after a crash. Throws an `InputError` if another service records there or the
   * folder is not writable, but not if the disk is full.
   */
  async open(): Promise<void> {
    const { directory } = this.#options;
    try {
      await nodeFiles.mkdir(directory, { recursive: true });
      // Without space for the lock file, the lock is taken before the first line is written.
      await this.#takeFolder().catch((error: unknown) => {
        if (!isDiskFull(error)) throw error;
        this.#fail(error);
      });
      const endedMs = await this.#folder.repair();
      // Unless the clock was set back.
      if (endedMs <= this.#options.clock.utcMs()) this.#recordedUntilMs = endedMs;
      await this.#makeRoom(0);
    } catch (error) {
      await this.#lock?.release().catch(() => {});
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw new InputError(directory, 'a folder that can be written to', (error as Error).message);
    }
  }

  status(): StateReply['recording'] {
    return {
      directory: basename(resolve(this.#options.directory)),
      lines: this.#lines,
      waiting: [...this.#open].reduce((sum, { waiting }) => sum + waiting.length, 0),
      lost: this.#lost,
      deletedFiles: this.#folder.deletedFiles,
    };
  }

  telemetry(second: TelemetrySecond): void {
    this.#newestPing = second;
    const isRecorded = second.fromHistory === true && second.atMs <= this.#recordedUntilMs;
    if (!isRecorded) this.record('telemetry', second);
  }

  /** Adds a line with the time, unless `fields` has one. */
  record(kind: string, fields: object): void {
    const { clock, maxBytes } = this.#options;
    if (this.#records !== undefined && this.#isFull(this.#records)) {
      this.#end(this.#records);
      this.#records = undefined;
    }
    this.#records ??= this.#begin(this.#folder.newStem('records', clock.utcMs()), 'jsonl');
    this.#push(this.#records, `${JSON.stringify({ kind, atMs: clock.utcMs(), ...fields })}\n`);
    // More than the limit of the folder would be deleted as soon as it was written.
    while (this.#waitingSize > Math.min(MOST_WAITING_SIZE, maxBytes) && this.#dropOldest());
  }

  /** An observation of the whole link, in order of time; `utcMsAt` converts its seconds to UTC. */
  observation(observation: Observation, utcMsAt: (seconds: number) => number): void {
    if (observation.kind === 'request-latency') return;
    if (this.#trace !== undefined && this.#isFull(this.#trace)) this.onLeap();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const rows = this.#rows.add(observation, isFresh ? ping : undefined);
    if (rows.length === 0) return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#push(this.#trace, ...rows);
  }

  /** Call it after a leap of UTC: the times of a trace must be of one clock. */
  onLeap(): void {
    this.#end(this.#trace);
    this.#trace = undefined;
    this.#rows = new TraceRows();
  }

  /**
   * Resolves once the operating system has all lines so far, which then survive a crash of the process. Resolves
   * without them if the disk fails or takes longer than 0.1 s. Never rejects.
   */
  written(): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, MOST_ANSWER_DELAY_MS);
      void this.flush().then(() => {
        clearTimeout(timer);
        done();
      });
    });
  }

  /** Writes waiting lines, also those that arrive meanwhile. Call it once a second. Reports problems and never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes all lines. Rejects with a `LostLinesError` if lines were lost now or before. */
  async close(): Promise<void> {
    await this.#writing;
    this.onLeap();
    this.#end(this.#records);
    await this.flush();
    this.#lost += this.status().waiting;
    await this.#lock?.release().catch(() => {});
    if (this.#lost > 0) throw new LostLinesError(`recording: ${this.#lossText()}`);
  }

  #isFull({ writtenBytes, beganMs }: RecordingFile): boolean {
    const { clock, maxBytes } = this.#options;
    return writtenBytes >= maxBytes / FILES_WITHIN_LIMIT || clock.monotonicMs() - beganMs >= FILE_MS;
  }

  #begin(stem: string, extension: string): RecordingFile {
    const beganMs = this.#options.clock.monotonicMs();
    const state = { beganMs, syncedMs: beganMs, waiting: [], writtenBytes: 0, isTorn: false, isEnded: false };
    const file = { stem, path: `${stem}.${extension}`, ...state };
    this.#open.add(file);
    return file;
  }

  /** `startMs`: UTC of the first row. */
  #beginTrace(startMs: number): RecordingFile {
    const stem = this.#folder.newStem('trace', startMs);
    const where = this.#options.place?.() ?? 'unknown place';
    const startUtc = new Date(startMs).toISOString();
    const sidecar = {
      dataset: 'recorded',
      recording_group: `${where} ${startUtc.slice(0, 10)}`,
      location: where,
      start_utc: startUtc,
      source: 'leo-abr serve: what players reported, with the ping of the dish',
    };
    // Before the trace, so that no trace on the disk lacks it.
    const beside = this.#begin(stem, 'json');
    this.#push(beside, `${JSON.stringify(sidecar)}\n`);
    this.#end(beside);
    return this.#begin(stem, 'csv');
  }

  #push(file: RecordingFile, ...lines: string[]): void {
    file.waiting.push(...lines);
    this.#waitingSize += sizeOf(lines);
  }

  #end(file: RecordingFile | undefined): void {
    if (file !== undefined) file.isEnded = true;
  }

  /** Drops the oldest waiting record; traces are kept. False if there is none. */
  #dropOldest(): boolean {
    const { problems } = this.#options;
    const file = [...this.#open].find(({ path, waiting }) => path.endsWith('.jsonl') && waiting.length > 0);
    if (file === undefined) return false;
    this.#waitingSize -= file.waiting.shift()!.length;
    this.#lost++;
    problems.report('recording', 'lost', this.#lossText());
    return true;
  }

  #lossText(): string {
    return `${this.#lost} ${this.#lost === 1 ? 'line is' : 'lines are'} lost: ${this.#reason}`;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { problems } = this.#options;
    try {
      await this.#takeFolder();
      for (const file of this.#open) {
        while (file.waiting.length > 0) await this.#writeNext(file);
      }
      // Not before, so that the lines that waited are not deleted for each other.
      for (const file of this.#open) if (file.isEnded && file.waiting.length === 0) this.#open.delete(file);
      problems.clear('recording', 'failed');
      await this.#lock?.touch();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes the first waiting lines of a file. They wait again if that fails. */
  async #writeNext(file: RecordingFile): Promise<void> {
    const { files, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const flush = file.isEnded || nowMs - file.syncedMs >= SYNC_MS;
    const lines = file.waiting.splice(0, LINES_PER_WRITE);
    const bytes = Buffer.from(lines.join(''));
    try {
      await this.#makeRoom(bytes.length);
      if (file.isTorn) await files.truncate(file.path, file.writtenBytes).catch(ifMissing);
      file.isTorn = true;
      await files.appendFile(file.path, bytes, { flush });
    } catch (error) {
      file.waiting.unshift(...lines);
      throw error;
    }
    file.isTorn = false;
    if (flush) file.syncedMs = nowMs;
    file.writtenBytes += bytes.length;
    this.#waitingSize -= sizeOf(lines);
    this.#lines += lines.length;
  }

  async #takeFolder(): Promise<void> {
    this.#lock ??= await lockFolder(this.#options.directory);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { problems } = this.#options;
    try {
      await this.#folder.makeRoom(bytes, new Set([...this.#open].map(({ stem }) => stem)));
      problems.clear('recording', 'over-limit');
    } catch (error) {
      problems.report('recording', 'over-limit', `old recordings cannot be deleted: ${(error as Error).message}`);
    }
  }

  #fail(error: unknown): void {
    const { problems } = this.#options;
    const { code, message } = error as NodeJS.ErrnoException;
    this.#reason = isDiskFull(error) ? 'the disk is full' : (code ?? message);
    problems.report('recording', 'failed', `${this.#reason}; lines wait to be written`);
  }
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** In characters, which nearly all are bytes. */
function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length, 0);
}
