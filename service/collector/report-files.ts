/** The folder of `reports-<UTC day>_<random>.ndjson`, which collectors may share; nothing is deleted. */

import { randomUUID } from 'node:crypto';
import * as nodeFiles from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { type AppendFiles, appendWhole } from '../recording/whole-lines.ts';

export interface ReportFilesOptions {
  directory: string;
  /** Limit of all files of reports in the folder. */
  maxBytes: number;
  clock: Clock;
  /** Default: `node:fs/promises`. */
  files?: AppendFiles | undefined;
}

export class FolderFullError extends Error {}

/** A file is followed by another one at this size. */
const FILE_BYTES = 256e6;
/** Somebody may move files away: the folder is measured again after this time. */
const MEASURE_MS = 10_000;

export class ReportFiles {
  #file = { path: '', day: '', bytes: 0 };
  #folderBytes = 0;
  #measuredMs = Number.NEGATIVE_INFINITY;
  /** Resolves when all lines so far are in files or refused. */
  written: Promise<void> = Promise.resolve();

  constructor(private readonly options: ReportFilesOptions) {}

  /** Resolves when the lines are in a file; rejects if none of them is, with a `FolderFullError` at the limit. */
  append(text: string): Promise<void> {
    const written = this.written.then(() => this.#append(Buffer.from(text)));
    this.written = written.catch(() => {});
    return written;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { directory, files = nodeFiles, clock, maxBytes } = this.options;
    if (clock.monotonicMs() - this.#measuredMs >= MEASURE_MS) await this.#measure();
    const isFull = this.#folderBytes + bytes.length > maxBytes;
    if (isFull) throw new FolderFullError(`expected less than ${maxBytes / 1e6} MB in the folder of reports`);
    const day = new Date(clock.utcMs()).toISOString().slice(0, 10);
    if (this.#file.day !== day || this.#file.bytes >= FILE_BYTES) {
      this.#file = { path: join(directory, `reports-${day}_${randomUUID()}.ndjson`), day, bytes: 0 };
    }
    const file = this.#file;
    await appendWhole(files, file.path, bytes, file.bytes);
    file.bytes += bytes.length;
    this.#folderBytes += bytes.length;
  }

  async #measure(): Promise<void> {
    const { directory, clock } = this.options;
    const names = (await nodeFiles.readdir(directory)).filter((name) => /^reports-.*\.ndjson$/.test(name));
    const sizes = await Promise.all(names.map((name) => nodeFiles.stat(join(directory, name))));
    this.#folderBytes = sizes.reduce((sum, { size }) => sum + size, 0);
    this.#measuredMs = clock.monotonicMs();
  }
}
