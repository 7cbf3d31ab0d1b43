/**
 * Keeps what the service saw, in a folder: `records-<UTC>_<n>.jsonl` with everything, a line each, and `trace-<UTC>_<n>.csv`
 * with its sidecar, the capacity that players reported second by second, which `leo-abr trace`, `simulate` and `train` read.
 * New files are begun by size and time; the oldest are deleted when there are too many or they are too old.
 */

import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Observation } from '../../abr/forecast.ts';
import type { ObservationsRequest, StateReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { AppendFile, type FileSystem, isDiskFull, repairEnd } from './append-file.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { RecordedSeconds } from './recorded-seconds.ts';
import { type RecordingFile, RecordingFolder } from './recording-folder.ts';
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
  /** Told which recordings were deleted, and why. Default: nobody. */
  onNotice?: ((message: string) => void) | undefined;
  /** Default: `node:fs/promises`. */
  files?: FileSystem;
}

/** Lines that were to be recorded are lost for good. The message says how many, of what, and why. */
export class LostLinesError extends Error {
  override readonly name = 'LostLinesError';
}

const FILE_MS = 6 * 3_600_000;
/** Files are begun anew at this part of the limit, so that deleting one leaves most of what there is. */
const FILES_WITHIN_LIMIT = 8;
const SYNC_MS = 5000;
const RETRY_MS = 5000;
/** Lines that wait for a full disk to have room again: hours of them. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/**
 * Nothing is deleted where all of it is less than this part of what waits; nor, at the end, the file that is being written
 * for less than this part of it.
 */
const WORTH_DELETING = 1 / 8;
/** That lines were lost is shown as a problem for so long. */
const LOSS_SHOWN_MS = 600_000;
/** An answer waits no longer than this for the disk. */
const MOST_ANSWER_DELAY_MS = 100;

export class Recorder {
  readonly #options: RecorderOptions & { files: FileSystem };
  readonly #folder: RecordingFolder;
  #lock: FolderLock | undefined;
  #known = new RecordedSeconds();
  #records: AppendFile | undefined;
  #recordsBeganMs = Number.NaN;
  #rows: TraceRows | undefined;
  /** From the first row on: a trace of nothing is no trace. */
  #trace: AppendFile | undefined;
  #traceBeganMs = Number.NaN;
  /** Sidecars that are not on the disk yet, by the path of the trace. */
  readonly #sidecars = new Map<string, string>();
  /** Files that nothing is added to any more, until all of them is on the disk. */
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
  /** Why the disk did not take lines last. */
  #reason = 'more came at once than the folder may hold';
  #newestPing: TelemetrySecond | undefined;

  constructor(options: RecorderOptions) {
    this.#options = { files: nodeFiles, ...options };
    const { onNotice = () => {} } = options;
    this.#folder = new RecordingFolder({ ...this.#options, onNotice });
  }

  /**
   * Makes the folder, and mends what a crash left. `InputError` where another service records there, or nothing can be
   * written; a full disk is waited for.
   */
  async open(): Promise<void> {
    const { directory, clock } = this.#options;
    try {
      await nodeFiles.mkdir(directory, { recursive: true });
      await this.#takeFolder().catch((error: unknown) => {
        // The lock may find no room: it is taken before the first line is written.
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
    // From now on the dish's history only fills gaps.
    if (second.fromHistory !== true) this.#known.clear();
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
    if (this.#trace !== undefined && this.#isFull(this.#trace, this.#traceBeganMs)) this.#endTrace();
    this.#rows ??= new TraceRows();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const text = this.#rows.add(observation, isFresh ? ping : undefined);
    if (text === '') return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#trace.append(text);
  }

  /** UTC has leapt: a trace is of one clock. */
  onLeap(): void {
    this.#endTrace();
  }

  /**
   * Resolves once the operating system has all lines so far, so that a crash of the process costs none of them; sooner if
   * the disk does not take them, or takes its time. Never rejects.
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

  /** Writes what waits, and ends files that are full. To be called once a second; never rejects: problems are reported. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Writes out and ends all files. `LostLinesError` if lines were lost, now or before. */
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

  /** `startMs`: UTC of its first row. */
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

  /** More than the limit would only be written to be deleted. */
  #mostWaitingBytes(): number {
    return Math.min(MOST_WAITING_BYTES, this.#options.maxBytes);
  }

  /** False if there is nothing to drop. */
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

  /** Including lines that came while a write was under way. */
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

  /** Writes to all files, also where one fails. */
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
   * Deletes the oldest recordings before waiting lines are lost: one, or at the end as many as those lines need. False if
   * that would not help.
   */
  async #giveUpOldest(): Promise<boolean> {
    if (!this.#isEnding && this.#waitingBytes() < this.#mostWaitingBytes() / 2) return false;
    try {
      // At the end, a trace that has just been ended is no older than the lines that wait.
      if (!this.#isEnding) await this.#closeWritten();
      const open = this.#files().filter((file) => this.#canBeginAnew(file));
      const keep = this.#paths();
      for (const { path } of open) keep.delete(path);
      const deletable = await this.#folder.deletable(keep);
      if (deletable.length === 0) return false;
      const openFile = ({ path }: RecordingFile) => open.find((file) => file.path === path);
      const roomOf = (recording: RecordingFile) => openFile(recording)?.wholeBytes() ?? recording.bytes;
      const room = deletable.reduce((sum, recording) => sum + roomOf(recording), 0);
      // At the end, what does not fit is lost: the oldest lines rather than the newest.
      while (this.#isEnding && this.#waitingBytes() > room && this.#dropOldest());
      const needed = this.#isEnding ? this.#waitingBytes() : this.#waitingBytes() * WORTH_DELETING;
      if (room < needed) return false;
      let freed = 0;
      do {
        const oldest = deletable.shift()!;
        freed += roomOf(oldest);
        const file = openFile(oldest);
        // A file that is open keeps its room, and some systems do not delete it.
        await file?.close();
        await this.#folder.giveUp(oldest);
        this.#linesBefore += file?.lines ?? 0;
        file?.beginAnew();
      } while (this.#isEnding && freed < needed);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether records that are being written may be deleted so far, for newer lines. */
  #canBeginAnew({ path, lines, bytes }: AppendFile): boolean {
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
      // A write that makes room closes files too.
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

/** There whole or not at all. */
async function writeWhole(path: string, text: string, files: FileSystem): Promise<void> {
  try {
    await files.writeFile(`${path}.new`, text);
    await files.rename(`${path}.new`, path);
  } catch (error) {
    await files.unlink(`${path}.new`).catch(() => {});
    throw error;
  }
}
