/** Records observations as lines of JSON and as traces. If a write fails, its lines wait for the next write. */

import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Observation } from '../../abr/forecast.ts';
import type { StateReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { type FileSystem, RecordingFolder } from './recording-folder.ts';
import { TraceRows } from './trace-rows.ts';
import { appendWhole, openFolder } from './whole-lines.ts';

export interface RecorderOptions {
  directory: string;
  /** Limit of all recordings in the folder. */
  maxBytes: number;
  clock: Clock;
  problems: Problems;
  /** Returns the location for the sidecars of traces. Default: unknown. */
  place?: () => string | undefined;
  /** Default: `node:fs/promises`. */
  files?: FileSystem;
}

/** Some lines could not be recorded. The message has their number. */
export class LostLinesError extends Error {
  override readonly name = 'LostLinesError';
}

type RecordingFile = ReturnType<typeof newFile>;

/** Files are rotated after six hours. */
const FILE_MS = 6 * 3_600_000;
/** Files are rotated at the limit divided by this, so that most recordings stay when a file is deleted. */
const FILES_WITHIN_LIMIT = 8;
/** Most characters that wait for a full disk: hours of lines. */
const MOST_WAITING = 64e6;

export class Recorder {
  readonly #options: RecorderOptions & { files: FileSystem };
  readonly #folder: RecordingFolder;
  /** End of the dish's history that an earlier start has recorded, UTC in ms. */
  #recordedUntilMs = Number.NEGATIVE_INFINITY;
  #newestPing: TelemetrySecond | undefined;
  #records: RecordingFile | undefined;
  #rows = new TraceRows();
  #trace: RecordingFile | undefined;
  /** The files that get lines, in the order in which they began. */
  readonly #open = new Set<RecordingFile>();
  /** Length of the waiting lines, in characters. */
  #waitingSize = 0;
  #writing: Promise<void> | undefined;
  #lines = 0;
  #lost = 0;

  constructor(options: RecorderOptions) {
    this.#options = { files: nodeFiles, ...options };
    this.#folder = new RecordingFolder(options.directory, this.#options.files);
  }

  /** Creates the folder and repairs files after a crash. Rejects with an `InputError` if the folder is not writable. */
  async open(): Promise<void> {
    await openFolder(this.#options.directory, async () => {
      const endedMs = await this.#folder.repair();
      // If the clock was set back, the end would be in the future.
      if (endedMs <= this.#options.clock.utcMs()) this.#recordedUntilMs = endedMs;
      await this.#makeRoom(0);
    });
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

  /** Adds a line. Its time is now, unless `fields` has `atMs`. */
  record(kind: string, fields: object): void {
    const { clock, problems, maxBytes } = this.#options;
    if (this.#waitingSize > Math.min(MOST_WAITING, maxBytes / 2)) {
      this.#lost++;
      problems.report('recording', 'lost', lossText(this.#lost));
      return;
    }
    if (this.#isFull(this.#records)) this.#records = this.#end(this.#records);
    this.#records ??= this.#begin(this.#folder.newStem('records', clock.utcMs()), 'jsonl');
    this.#push(this.#records, `${JSON.stringify({ kind, atMs: clock.utcMs(), ...fields })}\n`);
  }

  /** Takes an observation of the whole link, in order of time. `utcMsAt` converts its seconds to UTC. */
  observation(observation: Observation, utcMsAt: (seconds: number) => number): void {
    if (observation.kind === 'request-latency') return;
    if (this.#isFull(this.#trace)) this.onLeap();
    const ping = this.#newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const rows = this.#rows.add(observation, isFresh ? ping : undefined);
    if (rows.length === 0) return;
    this.#trace ??= this.#beginTrace(utcMsAt(this.#rows.startSecond!));
    this.#push(this.#trace, ...rows);
  }

  /** Ends the trace. Call it after a leap of UTC: all times of a trace must be of the same clock. */
  onLeap(): void {
    this.#trace = this.#end(this.#trace);
    this.#rows = new TraceRows();
  }

  /** Writes waiting lines, unless a write is pending. Call it once a second. It reports problems and never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Writes all lines. Rejects with a `LostLinesError` if lines have been lost. */
  async close(): Promise<void> {
    await this.#writing;
    this.onLeap();
    this.#end(this.#records);
    await this.flush();
    this.#lost += this.status().waiting;
    if (this.#lost > 0) throw new LostLinesError(`recording: ${lossText(this.#lost)}`);
  }

  get #fileBytes(): number {
    return this.#options.maxBytes / FILES_WITHIN_LIMIT;
  }

  #isFull(file: RecordingFile | undefined): boolean {
    if (file === undefined) return false;
    return file.writtenBytes >= this.#fileBytes || this.#options.clock.monotonicMs() - file.beganMs >= FILE_MS;
  }

  #begin(stem: string, extension: string): RecordingFile {
    const file = newFile(stem, extension, this.#options.clock.monotonicMs());
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
    // The sidecar is written first, so that no trace on the disk lacks it.
    const beside = this.#begin(stem, 'json');
    this.#push(beside, `${JSON.stringify(sidecar)}\n`);
    this.#end(beside);
    return this.#begin(stem, 'csv');
  }

  #push(file: RecordingFile, ...lines: string[]): void {
    file.waiting.push(...lines);
    this.#waitingSize += lines.join('').length;
  }

  /** Ends a file: it gets no more lines. Returns undefined. */
  #end(file: RecordingFile | undefined): undefined {
    if (file !== undefined) file.isEnded = true;
  }

  async #write(): Promise<void> {
    const { problems } = this.#options;
    try {
      for (const file of this.#open) {
        while (file.waiting.length > 0) await this.#writeLines(file);
        if (file.isEnded) this.#open.delete(file);
      }
      problems.clear('recording', 'failed');
    } catch (error) {
      problems.report('recording', 'failed', `${(error as Error).message}; lines wait to be written`);
    }
  }

  /** Writes the waiting lines of a file. If that fails, they wait again. */
  async #writeLines(file: RecordingFile): Promise<void> {
    const { files } = this.#options;
    const lines = file.waiting.splice(0);
    const text = lines.join('');
    const bytes = Buffer.from(text);
    // After a full disk, many lines at once may outgrow the file.
    const isOutgrown = file.writtenBytes + bytes.length > this.#fileBytes;
    if (file.writtenBytes === 0 || isOutgrown) await this.#makeRoom(bytes.length);
    await appendWhole(files, file.path, bytes, file.writtenBytes).catch((error) => {
      file.waiting = [...lines, ...file.waiting];
      throw error;
    });
    file.writtenBytes += bytes.length;
    this.#waitingSize -= text.length;
    this.#lines += lines.length;
  }

  /** Makes room for `coming` bytes, and for the growth of the open records and trace. */
  async #makeRoom(coming: number): Promise<void> {
    const { problems, maxBytes } = this.#options;
    try {
      const open = [...this.#open].map(({ stem }) => stem);
      await this.#folder.deleteBeyond(maxBytes - 2 * this.#fileBytes - coming, open);
      problems.clear('recording', 'over-limit');
    } catch (error) {
      problems.report('recording', 'over-limit', `old recordings cannot be deleted: ${(error as Error).message}`);
    }
  }
}

/** `beganMs` is monotonic. `waiting` has complete lines that are not in the file yet. */
function newFile(stem: string, extension: string, beganMs: number) {
  const waiting: string[] = [];
  return { stem, path: `${stem}.${extension}`, beganMs, waiting, writtenBytes: 0, isEnded: false };
}

function lossText(count: number): string {
  return count === 1 ? '1 line is lost' : `${count} lines are lost`;
}
