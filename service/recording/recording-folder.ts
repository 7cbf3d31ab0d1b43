/**
 * Manages the folder of recordings: names and orders files, and deletes the oldest ones when there are too many or they
 * are too old. Their order is a number in the name, because the clock may have been wrong when they were created.
 */

import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { FileSystem, RecordingFile } from './files.ts';

export interface RecordingFolderOptions {
  directory: string;
  /** Limit of all recordings together. */
  maxBytes: number;
  maxAgeDays: number;
  clock: Clock;
  files: FileSystem;
  /** Receives what was deleted, and why. */
  onNotice: (message: string) => void;
}

const DAY_MS = 86_400_000;
const PERIOD_MS = DAY_MS / 96;
const NAME = /^(records|trace)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:_(\d{1,15}))?\.(?:jsonl|csv|json)$/;
/** Files take whole blocks on the disk, and many restarts leave many small files. */
const BLOCK_BYTES = 4096;

export class RecordingFolder {
  readonly #options: RecordingFolderOptions;
  #nextOrder = 1;
  /** Size at the last check, plus the bytes written since. */
  #bytes = 0;
  #checkedMs = Number.NEGATIVE_INFINITY;
  deletedFiles = 0;

  constructor(options: RecordingFolderOptions) {
    this.#options = options;
  }

  /** Path of a new recording, without its extension. */
  newPath(kind: RecordingFile['kind'], beganMs: number): string {
    const stamp = new Date(beganMs).toISOString().replace(/[-:]|\.\d+/g, '');
    return join(this.#options.directory, `${kind}-${stamp}_${this.#nextOrder++}`);
  }

  /** Oldest first; files of earlier versions have no number and are ordered by time. */
  async list(): Promise<RecordingFile[]> {
    const { directory, files } = this.#options;
    const found: RecordingFile[] = [];
    for (const name of await files.readdir(directory)) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const [, kind, year, month, day, hour, minute, second, order = '0'] = match;
      const path = join(directory, name);
      const beganMs = Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second!);
      const { size } = await files.stat(path);
      found.push({ path, kind: kind as RecordingFile['kind'], beganMs, order: Number(order), bytes: size });
    }
    // A trace before its sidecar: it is deleted first, because it is useless without the sidecar.
    found.sort((a, b) => a.order - b.order || a.beganMs - b.beganMs || (a.path < b.path ? -1 : 1));
    this.#nextOrder = Math.max(this.#nextOrder, (found.at(-1)?.order ?? 0) + 1);
    return found;
  }

  /**
   * Deletes recordings that are too old, and the oldest ones until `coming` more bytes fit the limit. Lists the folder
   * only when needed. `keep`: paths of open files.
   */
  async makeRoom(coming: number, keep: ReadonlySet<string>): Promise<void> {
    const { clock, maxBytes, maxAgeDays } = this.#options;
    this.#bytes += coming;
    if (this.#bytes <= maxBytes && clock.monotonicMs() - this.#checkedMs < PERIOD_MS) return;
    this.#checkedMs = clock.monotonicMs();
    const all = await this.list();
    let bytes = coming + all.reduce((sum, file) => sum + bytesOnDisk(file), 0);
    const ages = agesMs(all, clock.utcMs());
    const tooOld: RecordingFile[] = [];
    const tooMany: RecordingFile[] = [];
    for (const file of all) {
      if (isKept(file, keep)) continue;
      if (ages.get(file)! > maxAgeDays * DAY_MS) tooOld.push(file);
      // Do not delete a huge file, left by a larger limit, for a few new lines.
      else if (bytes > maxBytes && bytes - bytesOnDisk(file) >= maxBytes / 2) tooMany.push(file);
      else break;
      bytes -= bytesOnDisk(file);
    }
    await this.#delete(tooOld, `older than ${maxAgeDays} days`);
    await this.#delete(tooMany, `more than ${maxBytes / 1e6} MB in the folder`);
    this.#bytes = bytes;
  }

  async #delete(doomed: readonly RecordingFile[], reason: string): Promise<void> {
    const { files, onNotice } = this.#options;
    if (doomed.length === 0) return;
    for (const { path } of doomed) {
      await files.unlink(path);
      this.deletedFiles++;
    }
    const [first, last] = [doomed[0]!, doomed.at(-1)!].map(({ path }) => path.split(/[\\/]/).at(-1));
    const which = doomed.length === 1 ? first : `${doomed.length} files from ${first} to ${last}`;
    const megabytes = (doomed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1);
    onNotice(`recordings: deleted ${which} (${megabytes} MB): ${reason}`);
  }
}

function bytesOnDisk({ bytes }: RecordingFile): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** An open trace keeps its sidecar. */
function isKept({ path }: RecordingFile, keep: ReadonlySet<string>): boolean {
  return keep.has(path) || keep.has(path.replace(/\.json$/, '.csv'));
}

/**
 * Ages that a wrong clock cannot inflate: the time between two files counts at least 0 and at most a day. While the
 * service runs, files follow each other within hours.
 */
function agesMs(files: readonly RecordingFile[], nowMs: number): Map<RecordingFile, number> {
  const ages = new Map<RecordingFile, number>();
  let age = 0;
  let laterMs = nowMs;
  for (const file of [...files].reverse()) {
    age += Math.min(DAY_MS, Math.max(0, laterMs - file.beganMs));
    laterMs = file.beganMs;
    ages.set(file, age);
  }
  return ages;
}
