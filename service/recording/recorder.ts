/**
 * Records what the service observes in a folder: all records as lines of `records-<UTC>_<n>.jsonl`, and the reported
 * capacity per second as `trace-<UTC>_<n>.csv` with a sidecar, for `leo-abr trace`, `simulate` and `train`. One queue of
 * lines is written in order: if a write fails (full disk), the rest waits, and the next one continues at the exact byte.
 */

import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Observation } from '../../abr/forecast.ts';
import type { ObservationsRequest, StateReply } from '../api/wire.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { type FileHandle, type FileSystem, isDiskFull, newestSecond, repairEnd } from './files.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { RecordingFolder, type RecordingFolderOptions } from './recording-folder.ts';
import { TraceRows } from './trace-rows.ts';

export interface RecorderOptions extends Omit<RecordingFolderOptions, 'files' | 'onNotice'> {
  problems: Problems;
  /** Location for the sidecars of traces, in words or rounded degrees. */
  place?: () => string | undefined;
  /** Receives which recordings were deleted, and why. */
  onNotice?: ((message: string) => void) | undefined;
  /** Default: `node:fs/promises`. */
  files?: FileSystem;
}

/** Lines could not be recorded. The message says how many, and why. */
export class LostLinesError extends Error {
  override readonly name = 'LostLinesError';
}

interface OpenFile {
  path: string;
  handle?: FileHandle | undefined;
  /** Monotonic. */
  beganMs: number;
  /** In the file and in the queue. */
  bytes: number;
  isClosed?: boolean;
}

/** Whole lines; empty: the end of the file, which is then closed. */
interface Chunk {
  file: OpenFile;
  bytes: Buffer;
  lines: number;
  /** May be dropped; without a row or its sidecar, a trace would be wrong. */
  isRecord: boolean;
}

const FILE_MS = 6 * 3_600_000;
/** Files are rotated at the limit divided by this, so that deleting one keeps most of the recordings. */
const FILES_WITHIN_LIMIT = 8;
/** Chunks are joined to writes of about this size. */
const WRITE_BYTES = 256 * 1024;
const SYNC_MS = 5000;
const RETRY_MS = 5000;
/** Lines that may wait for a full disk: hours of them. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** Time for which lost lines are shown as a problem. */
const LOSS_SHOWN_MS = 600_000;
/** Longest wait of a reply for the disk. */
const MOST_ANSWER_DELAY_MS = 100;

export class Recorder {
  readonly #options: RecorderOptions & { files: FileSystem };
  readonly #folder: RecordingFolder;
  #lock: FolderLock | undefined;
  /** The newest second of the dish that an earlier start has recorded. */
  #seam: TelemetrySecond | undefined;
  #newestPing: TelemetrySecond | undefined;
  #records: OpenFile | undefined;
  #rows = new TraceRows();
  /** Created with the first row. */
  #trace: OpenFile | undefined;
  /** Files that are not deleted for newer ones: closed ones too while newer lines wait. */
  readonly #open = new Set<OpenFile>();
  readonly #queue: Chunk[] = [];
  #waitingBytes = 0;
  /** Bytes of the first chunk that are already in its file. */
  #written = 0;
  /** Chunks of the current write. */
  #writingChunks = 0;
  #writing: Promise<void> | undefined;
  #syncedMs = 0;
  #retryMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #lost = 0;
  #lostMs = Number.NEGATIVE_INFINITY;
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
    const { directory, clock } = this.#options;
    try {
      await nodeFiles.mkdir(directory, { recursive: true });
      // Without space for the lock file, the lock is taken before the first line is written.
      await this.#takeFolder().catch((error: unknown) => {
        if (!isDiskFull(error)) throw error;
        this.#fail(error);
      });
      for (const { path } of await this.#folder.list()) if (!path.endsWith('.json')) await repairEnd(path);
      await this.#makeRoom(0);
      this.#seam = await newestSecond(await this.#folder.list(), clock.utcMs());
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
      waiting: this.#queue.reduce((sum, { lines }) => sum + lines, 0),
      lost: this.#lost,
      deletedFiles: this.#folder.deletedFiles,
    };
  }

  telemetry(second: TelemetrySecond): void {
    this.#newestPing = second;
    if (second.fromHistory !== true) this.#seam = undefined;
    else if (this.#isRecorded(second)) return;
    this.#add({ kind: 'telemetry', ...second });
  }

  report({ player, observations }: ObservationsRequest): void {
    this.#add({ kind: 'report', atMs: this.#options.clock.utcMs(), player, observations });
  }

  event(type: string, data: unknown): void {
    this.#add({ kind: type, atMs: this.#options.clock.utcMs(), data });
  }

  /** An observation of the whole link, in order of time; `utcMsAt` converts its seconds to UTC. */
  observation(observation: Observation, utcMsAt: (seconds: number) => number): void {
    if (observation.kind === 'request-latency') return;
    if (this.#trace !== undefined && this.#isFull(this.#trace)) this.onLeap();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const text = this.#rows.add(observation, isFresh ? ping : undefined);
    if (text === '') return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#push(this.#trace, text, false);
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
      void this.#writeAll().then(() => {
        clearTimeout(timer);
        done();
      });
    });
  }

  /** Writes waiting lines. Call it once a second. Reports problems and never rejects. */
  async flush(): Promise<void> {
    const { clock, problems } = this.#options;
    await this.#writeAll();
    if (clock.monotonicMs() - this.#lostMs > LOSS_SHOWN_MS) problems.clear('recording', 'lost');
  }

  /** Writes and closes all files. Rejects with a `LostLinesError` if lines were lost now or before. */
  async close(): Promise<void> {
    await this.#writing;
    this.onLeap();
    this.#end(this.#records);
    this.#retryMs = Number.NEGATIVE_INFINITY;
    await this.#writeAll();
    this.#lost += this.status().waiting;
    for (const { handle } of this.#open) await handle?.close().catch(() => {});
    await this.#lock?.release().catch(() => {});
    if (this.#lost > 0) throw new LostLinesError(`recording: ${this.#lossText()}`);
  }

  #add(record: object): void {
    const { clock } = this.#options;
    if (this.#records !== undefined && this.#isFull(this.#records)) {
      this.#end(this.#records);
      this.#records = undefined;
    }
    this.#records ??= this.#begin(`${this.#folder.newPath('records', clock.utcMs())}.jsonl`);
    this.#push(this.#records, `${JSON.stringify(record)}\n`, true);
    while (this.#waitingBytes > this.#mostWaitingBytes() && this.#dropOldest());
  }

  /** At each start, the dish's history repeats the seconds until the seam. */
  #isRecorded(second: TelemetrySecond): boolean {
    if (this.#seam === undefined) return false;
    const laterMs = second.atMs - this.#seam.atMs;
    // The ends of seconds are estimated, so the time alone does not identify one.
    const isSeam = Math.abs(laterMs) < 1000 && measured(second) === measured(this.#seam);
    if (isSeam || laterMs >= 1000) this.#seam = undefined;
    return laterMs < 1000;
  }

  #isFull({ bytes, beganMs }: OpenFile): boolean {
    const { clock, maxBytes } = this.#options;
    return bytes >= maxBytes / FILES_WITHIN_LIMIT || clock.monotonicMs() - beganMs >= FILE_MS;
  }

  #begin(path: string): OpenFile {
    const file = { path, beganMs: this.#options.clock.monotonicMs(), bytes: 0 };
    this.#open.add(file);
    return file;
  }

  /** `startMs`: UTC of the first row. */
  #beginTrace(startMs: number): OpenFile {
    const path = this.#folder.newPath('trace', startMs);
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
    const beside = this.#begin(`${path}.json`);
    this.#push(beside, `${JSON.stringify(sidecar)}\n`, false, 0);
    this.#end(beside);
    return this.#begin(`${path}.csv`);
  }

  #push(file: OpenFile, text: string, isRecord: boolean, lines = text.split('\n').length - 1): void {
    const bytes = Buffer.from(text);
    file.bytes += bytes.length;
    this.#waitingBytes += bytes.length;
    this.#queue.push({ file, bytes, lines, isRecord });
  }

  #end(file: OpenFile | undefined): void {
    if (file !== undefined) this.#queue.push({ file, bytes: Buffer.alloc(0), lines: 0, isRecord: false });
  }

  /** At most the limit of the folder: more would be deleted as soon as it was written. */
  #mostWaitingBytes(): number {
    return Math.min(MOST_WAITING_BYTES, this.#options.maxBytes);
  }

  /** Drops the oldest waiting record; traces are kept. False if there is none. */
  #dropOldest(): boolean {
    const { clock, problems } = this.#options;
    const isBegun = this.#written > 0 ? 1 : 0;
    const at = this.#queue.findIndex(({ isRecord }, i) => isRecord && i >= Math.max(this.#writingChunks, isBegun));
    if (at < 0) return false;
    const [dropped] = this.#queue.splice(at, 1);
    this.#waitingBytes -= dropped!.bytes.length;
    dropped!.file.bytes -= dropped!.bytes.length;
    this.#lost++;
    this.#lostMs = clock.monotonicMs();
    problems.report('recording', 'lost', this.#lossText());
    return true;
  }

  #lossText(): string {
    return `${this.#lost} ${this.#lost === 1 ? 'line is' : 'lines are'} lost: ${this.#reason}`;
  }

  /** Also writes lines that arrived during the current write. */
  async #writeAll(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { clock, problems } = this.#options;
    if (clock.monotonicMs() < this.#retryMs) return;
    try {
      await this.#takeFolder();
      while (this.#queue.length > 0) await this.#writeNext();
      for (const file of this.#open) if (file.isClosed === true) this.#open.delete(file);
      problems.clear('recording', 'failed');
      if (clock.monotonicMs() - this.#syncedMs < SYNC_MS) return;
      this.#syncedMs = clock.monotonicMs();
      for (const { handle } of this.#open) await handle?.datasync();
      await this.#lock?.touch();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes the first chunks of one file, or closes it. */
  async #writeNext(): Promise<void> {
    const { file, bytes } = this.#queue[0]!;
    if (bytes.length === 0) {
      await file.handle?.datasync();
      await file.handle?.close();
      file.handle = undefined;
      file.isClosed = true;
      this.#queue.shift();
      return;
    }
    const batch: Buffer[] = [];
    for (let size = 0; size < WRITE_BYTES; size += batch.at(-1)!.length) {
      const next = this.#queue[batch.length];
      if (next === undefined || next.file !== file || next.bytes.length === 0) break;
      batch.push(next.bytes);
    }
    this.#writingChunks = batch.length;
    try {
      const rest = Buffer.concat(batch).subarray(this.#written);
      await this.#makeRoom(rest.length);
      file.handle ??= await this.#options.files.open(file.path, 'a');
      const { bytesWritten } = await file.handle.write(rest, 0, rest.length);
      if (bytesWritten === 0) throw Object.assign(new Error('nothing could be written'), { code: 'ENOSPC' });
      this.#written += bytesWritten;
    } finally {
      this.#writingChunks = 0;
    }
    while (this.#queue[0] !== undefined && this.#written >= this.#queue[0].bytes.length && this.#written > 0) {
      const whole = this.#queue.shift()!;
      this.#written -= whole.bytes.length;
      this.#waitingBytes -= whole.bytes.length;
      this.#lines += whole.lines;
    }
  }

  async #takeFolder(): Promise<void> {
    this.#lock ??= await lockFolder(this.#options.directory);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { problems } = this.#options;
    try {
      await this.#folder.makeRoom(bytes, new Set([...this.#open].map(({ path }) => path)));
      problems.clear('recording', 'over-limit');
    } catch (error) {
      problems.report('recording', 'over-limit', `old recordings cannot be deleted: ${(error as Error).message}`);
    }
  }

  #fail(error: unknown): void {
    const { clock, problems } = this.#options;
    this.#retryMs = clock.monotonicMs() + RETRY_MS;
    const { code, message } = error as NodeJS.ErrnoException;
    this.#reason = isDiskFull(error) ? 'the disk is full' : (code ?? message);
    problems.report('recording', 'failed', `${this.#reason}; lines wait to be written`);
  }
}

function measured({ latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps }: TelemetrySecond): string {
  return [latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps].join(' ');
}
