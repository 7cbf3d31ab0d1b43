/**
 * The folder of recordings: names and orders them, and deletes the oldest ones when there are too many or they are too
 * old. Their order is a number in the name, because the clock may have been wrong when they were created.
 */

import * as nodeFiles from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../clock.ts';

/** What is used of the file system, and what tests replace by a full disk. */
export type FileSystem = Pick<typeof nodeFiles, 'appendFile' | 'truncate' | 'unlink' | 'readdir' | 'stat'>;

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

/** Records, or a trace with its sidecar. */
interface Recording {
  /** Paths of its files without their extensions. */
  stem: string;
  files: string[];
  /** Creation time, UTC in ms by the clock of that time. */
  beganMs: number;
  order: number;
  bytes: number;
}

const DAY_MS = 86_400_000;
const PERIOD_MS = DAY_MS / 96;
const NAME = /^((?:records|trace)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z_(\d{1,15}))\.(?:jsonl|csv|json)$/;
/** Files take whole blocks on the disk, and many restarts leave many small files. */
const BLOCK_BYTES = 4096;
/** Longer than any line. */
const TAIL_BYTES = 2 ** 20;

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

  /** Removes last lines without a newline, which a crash leaves. */
  async repair(): Promise<void> {
    const paths = (await this.#list()).flatMap(({ files }) => files);
    for (const path of paths) if (!path.endsWith('.json')) await repairEnd(path);
  }

  /** Path of a new recording, without its extension. */
  newStem(kind: 'records' | 'trace', beganMs: number): string {
    const stamp = new Date(beganMs).toISOString().replace(/[-:]|\.\d+/g, '');
    return join(this.#options.directory, `${kind}-${stamp}_${this.#nextOrder++}`);
  }

  /**
   * Deletes recordings that are too old, and the oldest ones until `coming` more bytes fit the limit. Lists the folder
   * only when needed. `keep`: stems of open recordings.
   */
  async makeRoom(coming: number, keep: ReadonlySet<string>): Promise<void> {
    const { clock, maxBytes, maxAgeDays } = this.#options;
    this.#bytes += coming;
    if (this.#bytes <= maxBytes && clock.monotonicMs() - this.#checkedMs < PERIOD_MS) return;
    this.#checkedMs = clock.monotonicMs();
    const all = await this.#list();
    let bytes = coming + all.reduce((sum, one) => sum + one.bytes, 0);
    const ages = agesMs(all, clock.utcMs());
    const tooOld: Recording[] = [];
    const tooMany: Recording[] = [];
    for (const one of all) {
      if (keep.has(one.stem)) continue;
      if (ages.get(one)! > maxAgeDays * DAY_MS) tooOld.push(one);
      // Do not delete a huge file, left by a larger limit, for a few new lines.
      else if (bytes > maxBytes && bytes - one.bytes >= maxBytes / 2) tooMany.push(one);
      else break;
      bytes -= one.bytes;
    }
    await this.#delete(tooOld, `older than ${maxAgeDays} days`);
    await this.#delete(tooMany, `more than ${maxBytes / 1e6} MB in the folder`);
    this.#bytes = bytes;
  }

  /** Oldest first. */
  async #list(): Promise<Recording[]> {
    const { directory, files } = this.#options;
    const found = new Map<string, Recording>();
    for (const name of await files.readdir(directory)) {
      const [, stem, year, month, day, hour, minute, second, order] = NAME.exec(name) ?? [];
      if (stem === undefined) continue;
      const beganMs = Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second!);
      const began = { stem: join(directory, stem), beganMs, order: Number(order) };
      const recording: Recording = found.get(stem) ?? { ...began, files: [], bytes: 0 };
      const path = join(directory, name);
      recording.files.push(path);
      recording.bytes += Math.ceil((await files.stat(path)).size / BLOCK_BYTES) * BLOCK_BYTES;
      found.set(stem, recording);
    }
    const sorted = [...found.values()].sort((a, b) => a.order - b.order || a.beganMs - b.beganMs);
    this.#nextOrder = Math.max(this.#nextOrder, (sorted.at(-1)?.order ?? 0) + 1);
    return sorted;
  }

  async #delete(doomed: readonly Recording[], reason: string): Promise<void> {
    const { files, onNotice } = this.#options;
    const paths = doomed.flatMap((one) => one.files);
    if (paths.length === 0) return;
    for (const path of paths) {
      await files.unlink(path);
      this.deletedFiles++;
    }
    const [first, last] = [basename(paths[0]!), basename(paths.at(-1)!)];
    const which = paths.length === 1 ? first : `${paths.length} files from ${first} to ${last}`;
    const megabytes = (doomed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1);
    onNotice(`recordings: deleted ${which} (${megabytes} MB): ${reason}`);
  }
}

/**
 * Ages that a wrong clock cannot inflate: the time between two recordings counts at least 0 and at most a day. While the
 * service runs, they follow each other within hours.
 */
function agesMs(recordings: readonly Recording[], nowMs: number): Map<Recording, number> {
  const ages = new Map<Recording, number>();
  let age = 0;
  let laterMs = nowMs;
  for (const one of [...recordings].reverse()) {
    age += Math.min(DAY_MS, Math.max(0, laterMs - one.beganMs));
    laterMs = one.beganMs;
    ages.set(one, age);
  }
  return ages;
}

async function repairEnd(path: string): Promise<void> {
  const handle = await nodeFiles.open(path, 'r+');
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    if (end < bytesRead && (end > 0 || start === 0)) await handle.truncate(start + end);
  } finally {
    await handle.close();
  }
}
