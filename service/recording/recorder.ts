/**
 * Records what the service observes in a folder: all records as lines of `records-<UTC>_<n>.jsonl`, and the reported
 * capacity per second as `trace-<UTC>_<n>.csv` with a sidecar, for `leo-abr trace`, `simulate` and `train`. Files are
 * rotated by size and time; the oldest are deleted when there are too many or they are too old.
 */

import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Observation } from '../../abr/forecast.ts';
import type { ObservationsRequest, StateReply } from '../api/wire.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { AppendFile, type FileSystem, isDiskFull, repairEnd } from './append-file.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { RecordedSeconds } from './recorded-seconds.ts';
import { type RecordingFile, RecordingFolder, type RecordingFolderOptions } from './recording-folder.ts';
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

/** Lines could not be recorded. The message says how many, of which kinds, and why. */
export class LostLinesError extends Error {
  override readonly name = 'LostLinesError';
}

const FILE_MS = 6 * 3_600_000;
/** Files are rotated at the limit divided by this, so that deleting one keeps most of the recordings. */
const FILES_WITHIN_LIMIT = 8;
const SYNC_MS = 5000;
const RETRY_MS = 5000;
/** Lines that may wait for a full disk: hours of them. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/**
 * Delete recordings only if they free at least this share of the waiting bytes; at the end, delete an open file only if
 * at least this share of its bytes waits.
 */
const WORTH_DELETING = 1 / 8;
/** Time for which lost lines are shown as a problem. */
const LOSS_SHOWN_MS = 600_000;
/** Longest wait of a reply for the disk. */
const MOST_ANSWER_DELAY_MS = 100;

export class Recorder {
  readonly #options: RecorderOptions & { files: FileSystem };
  readonly #folder: RecordingFolder;
  #lock: FolderLock | undefined;
  #known = new RecordedSeconds();
  #records: AppendFile | undefined;
  #recordsBeganMs = Number.NaN;
  #rows: TraceRows | undefined;
  /** Created with the first row. */
  #trace: AppendFile | undefined;
  #traceBeganMs = Number.NaN;
  /** Sidecars that are not on the disk yet, by the path of the trace. */
  readonly #sidecars = new Map<string, string>();
  /** Finished files that are not yet completely on the disk. */
  #closing: AppendFile[] = [];
  #writing: Promise<void> | undefined;
  #flushing: Promise<void> | undefined;
  #isEnding = false;
  #syncedMs = 0;
  #retryMs = Number.NEGATIVE_INFINITY;
  #linesBefore = 0;
  /** Lines lost, by kind. */
  readonly #lost = new Map<string, number>();
  #lostMs = Number.NEGATIVE_INFINITY;
  /** Reason of the last failed write. */
  #reason = 'more arrived at once than the folder may hold';
  #newestPing: TelemetrySecond | undefined;

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
      await this.#takeFolder().catch((error: unknown) => {
        // Without space for the lock file, the lock is taken before the first line is written.
        if (!isDiskFull(error)) throw error;
        this.#fail(error);
      });
      for (const { path } of await this.#folder.list()) if (!path.endsWith('.json')) await repairEnd(path);
      await this.#makeRoom(0);
      this.#known = await RecordedSeconds.of(await this.#folder.list(), clock.utcMs());
    } catch (error) {
      await this.#lock?.release().catch(() => {});
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw new InputError(directory, 'a folder that can be written to', (error as Error).message);
    }
  }

  status(): StateReply['recording'] {
    const files = this.#files();
    return {
      directory: basename(resolve(this.#options.directory)),
      lines: this.#linesBefore + files.reduce((sum, file) => sum + file.lines, 0),
      waiting: files.reduce((sum, file) => sum + file.waitingLines, 0),
      lost: this.#lostLines(),
      deletedFiles: this.#folder.deletedFiles,
    };
  }

  telemetry(second: TelemetrySecond): void {
    this.#newestPing = second;
    if (second.fromHistory === true && this.#known.has(second)) return;
    // After the first live second, the history contains only new seconds.
    if (second.fromHistory !== true) this.#known = new RecordedSeconds();
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
    if (this.#trace !== undefined && this.#isFull(this.#trace, this.#traceBeganMs)) this.#endTrace();
    this.#rows ??= new TraceRows();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const text = this.#rows.add(observation, isFresh ? ping : undefined);
    if (text === '') return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#trace.append(text);
  }

  /** Call it after a leap of UTC: the times of a trace must be of one clock. */
  onLeap(): void {
    this.#endTrace();
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

  /** Writes waiting lines and closes finished files. Call it once a second. Reports problems and never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Writes and closes all files. Rejects with a `LostLinesError` if lines were lost now or before. */
  async close(): Promise<void> {
    await this.#flushing;
    this.#isEnding = true;
    this.#endTrace();
    this.#endRecords();
    this.#retryMs = Number.NEGATIVE_INFINITY;
    await this.#writeAll();
    await this.flush();
    for (const file of this.#closing.splice(0)) {
      this.#lose(file, file.waitingText());
      await file.close().catch(() => {});
    }
    await this.#lock?.release().catch(() => {});
    if (this.#lost.size > 0) throw new LostLinesError(`recording: ${this.#lossText()}`);
  }

  #add(record: object): void {
    if (this.#records !== undefined && this.#isFull(this.#records, this.#recordsBeganMs)) this.#endRecords();
    if (this.#records === undefined) {
      const { clock, files } = this.#options;
      this.#recordsBeganMs = clock.monotonicMs();
      this.#records = new AppendFile(`${this.#folder.newPath('records', clock.utcMs())}.jsonl`, files);
    }
    this.#records.append(`${JSON.stringify(record)}\n`);
    while (this.#waitingBytes() > this.#mostWaitingBytes() && this.#dropOldest());
  }

  #isFull({ bytes, waitingBytes }: AppendFile, beganMs: number): boolean {
    const { clock, maxBytes } = this.#options;
    return bytes + waitingBytes >= maxBytes / FILES_WITHIN_LIMIT || clock.monotonicMs() - beganMs >= FILE_MS;
  }

  /** `startMs`: UTC of the first row. */
  #beginTrace(startMs: number): AppendFile {
    const { clock, files, place } = this.#options;
    const path = `${this.#folder.newPath('trace', startMs)}.csv`;
    const where = place?.() ?? 'unknown place';
    const startUtc = new Date(startMs).toISOString();
    const sidecar = {
      dataset: 'recorded',
      recording_group: `${where} ${startUtc.slice(0, 10)}`,
      location: where,
      start_utc: startUtc,
      source: 'leo-abr serve: what players reported, with the ping of the dish',
    };
    this.#traceBeganMs = clock.monotonicMs();
    this.#sidecars.set(path, `${JSON.stringify(sidecar, null, 2)}\n`);
    return new AppendFile(path, files);
  }

  #endTrace(): void {
    if (this.#trace !== undefined) this.#closing.push(this.#trace);
    this.#trace = undefined;
    this.#rows = undefined;
  }

  #endRecords(): void {
    if (this.#records !== undefined) this.#closing.push(this.#records);
    this.#records = undefined;
  }

  #files(): AppendFile[] {
    return [...this.#closing, ...(this.#records ? [this.#records] : []), ...(this.#trace ? [this.#trace] : [])];
  }

  #paths(): Set<string> {
    return new Set(this.#files().map(({ path }) => path));
  }

  /** Sidecars included. */
  #waitingBytes(): number {
    const sidecars = [...this.#sidecars.values()].reduce((sum, { length }) => sum + length, 0);
    return this.#files().reduce((sum, file) => sum + file.waitingBytes, sidecars);
  }

  /** At most the limit of the folder: more would be deleted as soon as it was written. */
  #mostWaitingBytes(): number {
    return Math.min(MOST_WAITING_BYTES, this.#options.maxBytes);
  }

  /** Drops the oldest waiting records; traces are kept. False if there are none. */
  #dropOldest(): boolean {
    for (const file of this.#files()) {
      const text = file.path.endsWith('.jsonl') ? file.dropOldest() : '';
      if (text === '') continue;
      this.#lose(file, text);
      return true;
    }
    return false;
  }

  #lose({ path }: AppendFile, text: string): void {
    const { clock, problems } = this.#options;
    if (text === '') return;
    for (const line of text.trimEnd().split('\n')) {
      const kind = path.endsWith('.csv') ? 'trace' : (JSON.parse(line) as { kind: string }).kind;
      this.#lost.set(kind, (this.#lost.get(kind) ?? 0) + 1);
    }
    this.#lostMs = clock.monotonicMs();
    problems.report('recording', 'lost', this.#lossText());
  }

  #lostLines(): number {
    return [...this.#lost.values()].reduce((sum, count) => sum + count, 0);
  }

  #lossText(): string {
    const kinds = [...this.#lost].map(([kind, count]) => `${count} ${kind}`).join(', ');
    const total = this.#lostLines();
    return `${total} ${total === 1 ? 'line is' : 'lines are'} lost (${kinds}): ${this.#reason}`;
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
    for (;;) {
      try {
        await this.#writeFiles();
        this.#retryMs = Number.NEGATIVE_INFINITY;
        problems.clear('recording', 'failed');
        return;
      } catch (error) {
        this.#fail(error);
        if (!isDiskFull(error) || !(await this.#giveUpOldest())) return;
      }
    }
  }

  /** Writes to all files, even if one fails. */
  async #writeFiles(): Promise<void> {
    await this.#takeFolder();
    let failure: unknown;
    for (const file of this.#files()) {
      if (file.waitingBytes === 0) continue;
      await this.#makeRoom(file.waitingBytes);
      try {
        await this.#writeSidecar(file);
        await file.flush();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  async #writeSidecar({ path }: AppendFile): Promise<void> {
    const sidecar = this.#sidecars.get(path);
    if (sidecar === undefined) return;
    await writeWhole(path.replace(/\.csv$/, '.json'), sidecar, this.#options.files);
    this.#sidecars.delete(path);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { problems } = this.#options;
    try {
      await this.#folder.makeRoom(bytes, this.#paths());
      problems.clear('recording', 'over-limit');
    } catch (error) {
      problems.report('recording', 'over-limit', `old recordings cannot be deleted: ${(error as Error).message}`);
    }
  }

  /**
   * Frees space for waiting lines by deleting the oldest recording, or at the end as many as the lines need. False if
   * that does not help.
   */
  async #giveUpOldest(): Promise<boolean> {
    if (!this.#isEnding && this.#waitingBytes() < this.#mostWaitingBytes() / 2) return false;
    try {
      // At the end, the trace that was just finished stays protected as an open file.
      if (!this.#isEnding) await this.#closeWritten();
      const open = this.#files().filter((file) => this.#canRestart(file));
      const keep = this.#paths();
      for (const { path } of open) keep.delete(path);
      const deletable = await this.#folder.deletable(keep);
      if (deletable.length === 0) return false;
      const openFile = ({ path }: RecordingFile) => open.find((file) => file.path === path);
      const roomOf = (recording: RecordingFile) => openFile(recording)?.wholeBytes() ?? recording.bytes;
      const room = deletable.reduce((sum, recording) => sum + roomOf(recording), 0);
      // At the end, drop the oldest lines that do not fit.
      while (this.#isEnding && this.#waitingBytes() > room && this.#dropOldest());
      const needed = this.#isEnding ? this.#waitingBytes() : this.#waitingBytes() * WORTH_DELETING;
      if (room < needed) return false;
      let freed = 0;
      do {
        const oldest = deletable.shift()!;
        freed += roomOf(oldest);
        const file = openFile(oldest);
        // Deleting an open file would not free its space, and fails on some systems.
        await file?.close();
        await this.#folder.giveUp(oldest);
        this.#linesBefore += file?.lines ?? 0;
        file?.restart();
      } while (this.#isEnding && freed < needed);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the written part of an open records file may be deleted for newer lines. */
  #canRestart({ path, lines, bytes }: AppendFile): boolean {
    const isWorthIt = !this.#isEnding || this.#waitingBytes() >= bytes * WORTH_DELETING;
    return path.endsWith('.jsonl') && lines > 0 && isWorthIt;
  }

  async #takeFolder(): Promise<void> {
    this.#lock ??= await lockFolder(this.#options.directory);
  }

  async #flush(): Promise<void> {
    const { clock, problems } = this.#options;
    await this.#writeAll();
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#lostMs > LOSS_SHOWN_MS) problems.clear('recording', 'lost');
    try {
      if (nowMs - this.#syncedMs >= SYNC_MS) {
        this.#syncedMs = nowMs;
        for (const file of this.#files()) await file.sync();
        await this.#lock?.touch();
      }
      await this.#closeWritten();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #closeWritten(): Promise<void> {
    for (const file of this.#closing.filter(({ waitingBytes }) => waitingBytes === 0)) {
      await file.sync();
      // A concurrent write that freed space may have closed it.
      if (!this.#closing.includes(file)) continue;
      this.#closing = this.#closing.filter((other) => other !== file);
      this.#linesBefore += file.lines;
      await file.close();
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

/** Writes the file atomically. */
async function writeWhole(path: string, text: string, files: FileSystem): Promise<void> {
  try {
    await files.writeFile(`${path}.new`, text);
    await files.rename(`${path}.new`, path);
  } catch (error) {
    await files.unlink(`${path}.new`).catch(() => {});
    throw error;
  }
}
