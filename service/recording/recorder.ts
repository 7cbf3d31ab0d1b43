/** Records observations as lines of JSON and as traces. If a write fails, its lines wait for the next write. */

import { existsSync } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Observation } from '../../abr/forecast.ts';
import type { StateReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { RecordingFolder } from './recording-folder.ts';
import { HEADER, isBlank, TraceRows } from './trace-rows.ts';
import { type AppendFiles, appendWhole, messageOf, openFolder } from './whole-lines.ts';

export interface RecorderOptions {
  directory: string;
  /** Limit of all recordings in the folder. */
  maxBytes: number;
  clock: Clock;
  problems: Problems;
  /** Returns the location for the sidecars of traces. Default: unknown. */
  place?: () => string | undefined;
  /** Default: `node:fs/promises`. */
  files?: AppendFiles;
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
  private readonly _options: RecorderOptions & { files: AppendFiles };
  private readonly _folder: RecordingFolder;
  /** End of the dish's history that an earlier start has recorded, UTC in ms. */
  private _recordedUntilMs = Number.NEGATIVE_INFINITY;
  private _newestPing: TelemetrySecond | undefined;
  private _records: RecordingFile | undefined;
  private _rows = new TraceRows();
  private _trace: RecordingFile | undefined;
  /** The files that get lines, in the order in which they began. */
  private readonly _open = new Set<RecordingFile>();
  /** Length of the waiting lines, in characters. */
  private _waitingSize = 0;
  private _writing: Promise<void> | undefined;
  private _lines = 0;
  private _lost = 0;

  constructor(options: RecorderOptions) {
    this._options = { files: nodeFiles, ...options };
    this._folder = new RecordingFolder(options.directory);
  }

  /** Creates the folder and repairs files after a crash. Rejects with an `InputError` if the folder is not writable. */
  async open(): Promise<void> {
    await openFolder(this._options.directory, async () => {
      const endedMs = await this._folder.repair();
      // If the clock was set back, the end would be in the future.
      if (endedMs <= this._options.clock.utcMs()) this._recordedUntilMs = endedMs;
      await this._makeRoom(0);
    });
  }

  status(): StateReply['recording'] {
    return {
      directory: basename(resolve(this._options.directory)),
      lines: this._lines,
      waiting: [...this._open].reduce((sum, { waiting }) => sum + waiting.length, 0),
      lost: this._lost,
      deletedFiles: this._folder.deletedFiles,
    };
  }

  telemetry(second: TelemetrySecond): void {
    this._newestPing = second;
    const isRecorded = second.fromHistory === true && second.atMs <= this._recordedUntilMs;
    if (!isRecorded) this.record('telemetry', second);
  }

  /** Adds a line. Its time is now, unless `fields` has `atMs`. */
  record(kind: string, fields: object): void {
    const { clock, problems, maxBytes } = this._options;
    if (this._waitingSize > Math.min(MOST_WAITING, maxBytes / 2)) {
      this._lost++;
      problems.report('recording', 'lost', lossText(this._lost));
      return;
    }
    if (this._isFull(this._records)) this._records = this._end(this._records);
    this._records ??= this._begin(this._folder.newStem('records', clock.utcMs()), 'jsonl');
    this._push(this._records, `${JSON.stringify({ kind, atMs: clock.utcMs(), ...fields })}\n`);
  }

  /** Takes an observation of the whole link, in order of time. `utcMsAt` converts its seconds to UTC. */
  observation(observation: Observation, utcMsAt: (seconds: number) => number): void {
    if (observation.kind === 'request-latency') return;
    if (this._isFull(this._trace)) this.onLeap();
    const ping = this._newestPing;
    const isFresh = ping !== undefined && Math.abs(utcMsAt(observation.endSeconds) - ping.atMs) < 3000;
    const rows = this._rows.add(observation, isFresh ? ping : undefined);
    if (rows.length === 0) return;
    this._trace ??= this._beginTrace(utcMsAt(this._rows.startSecond!));
    this._push(this._trace, ...rows);
  }

  /** Ends the trace. Call it after a leap of UTC: all times of a trace must be of the same clock. */
  onLeap(): void {
    if (this._trace) this._push(this._trace, ...this._rows.end());
    this._trace = this._end(this._trace);
    this._rows = new TraceRows();
  }

  /** Writes waiting lines, unless a write is pending. Call it once a second. It reports problems and never rejects. */
  flush(): Promise<void> {
    this._writing ??= this._write().finally(() => {
      this._writing = undefined;
    });
    return this._writing;
  }

  /** Writes all lines. Rejects with a `LostLinesError` if lines have been lost. */
  async close(): Promise<void> {
    await this._writing;
    this.onLeap();
    this._end(this._records);
    await this.flush();
    this._lost += this.status().waiting;
    if (this._lost > 0) throw new LostLinesError(`recording: ${lossText(this._lost)}`);
  }

  private get _fileBytes(): number {
    return this._options.maxBytes / FILES_WITHIN_LIMIT;
  }

  private _isFull(file: RecordingFile | undefined): boolean {
    if (file === undefined) return false;
    return file.writtenBytes >= this._fileBytes || this._options.clock.monotonicMs() - file.beganMs >= FILE_MS;
  }

  private _begin(stem: string, extension: string): RecordingFile {
    const file = newFile(stem, extension, this._options.clock.monotonicMs());
    this._open.add(file);
    return file;
  }

  /** `zeroMs`: UTC of time 0 of the trace. `seconds`: time of its first row. */
  private _beginTrace(zeroMs: number, seconds = 0): RecordingFile {
    const startMs = zeroMs + 1000 * seconds;
    const stem = this._folder.newStem('trace', startMs);
    const where = this._options.place?.() ?? 'unknown place';
    const startUtc = new Date(startMs).toISOString();
    const sidecar = {
      dataset: 'recorded',
      recording_group: `${where} ${startUtc.slice(0, 10)}`,
      location: where,
      start_utc: startUtc,
      source: 'leo-abr serve: what players reported, with the ping of the dish',
    };
    // The sidecar is written first, so that no trace on the disk lacks it.
    const beside = this._begin(stem, 'json');
    this._push(beside, `${JSON.stringify(sidecar)}\n`);
    this._end(beside);
    return Object.assign(this._begin(stem, 'csv'), { zeroMs });
  }

  /** If the file of a trace was moved away, its later rows are another trace. */
  private _divert(file: RecordingFile): void {
    if (file.writtenBytes === 0 || Number.isNaN(file.zeroMs) || existsSync(file.path)) return;
    const rows = file.waiting.splice(0);
    this._waitingSize -= rows.join('').length;
    if (isBlank(rows[0])) rows.shift();
    if (rows.length === 0) return;
    const later = this._beginTrace(file.zeroMs, Number.parseInt(rows[0]!, 10));
    this._push(later, HEADER, ...rows);
    later.isEnded = file.isEnded;
    file.isEnded = true;
    if (this._trace === file) this._trace = later;
  }

  private _push(file: RecordingFile, ...lines: string[]): void {
    file.waiting.push(...lines);
    this._waitingSize += lines.join('').length;
  }

  /** Ends a file: it gets no more lines. Returns undefined. */
  private _end(file: RecordingFile | undefined): undefined {
    if (file !== undefined) file.isEnded = true;
  }

  private async _write(): Promise<void> {
    const { problems } = this._options;
    try {
      for (const file of this._open) {
        this._divert(file);
        while (file.waiting.length > 0) await this._writeLines(file);
        if (file.isEnded) this._open.delete(file);
      }
      problems.clear('recording', 'failed');
    } catch (error) {
      problems.report('recording', 'failed', `${messageOf(error)}; lines wait to be written`);
    }
  }

  /** Writes the waiting lines of a file. If that fails, they wait again. */
  private async _writeLines(file: RecordingFile): Promise<void> {
    const { files } = this._options;
    const lines = file.waiting.splice(0);
    const text = lines.join('');
    const bytes = Buffer.from(text);
    // After a full disk, many lines at once may outgrow the file.
    const isOutgrown = file.writtenBytes + bytes.length > this._fileBytes;
    if (file.writtenBytes === 0 || isOutgrown) await this._makeRoom(bytes.length);
    await appendWhole(files, file.path, bytes).catch((error) => {
      file.waiting = [...lines, ...file.waiting];
      throw error;
    });
    file.writtenBytes += bytes.length;
    this._waitingSize -= text.length;
    this._lines += lines.length;
  }

  /** Makes room for `coming` bytes, and for the growth of the open records and trace. */
  private async _makeRoom(coming: number): Promise<void> {
    const { problems, maxBytes } = this._options;
    try {
      const open = [...this._open].map(({ stem }) => stem);
      await this._folder.deleteBeyond(maxBytes - 2 * this._fileBytes - coming, open);
      problems.clear('recording', 'over-limit');
    } catch (error) {
      problems.report('recording', 'over-limit', `old recordings cannot be deleted: ${messageOf(error)}`);
    }
  }
}

/** `beganMs` is monotonic. `waiting` has complete lines that are not in the file yet. `zeroMs`: UTC of a trace's time 0. */
function newFile(stem: string, extension: string, beganMs: number) {
  const waiting: string[] = [];
  return { stem, path: `${stem}.${extension}`, beganMs, waiting, zeroMs: Number.NaN, writtenBytes: 0, isEnded: false };
}

function lossText(count: number): string {
  return count === 1 ? '1 line is lost' : `${count} lines are lost`;
}
