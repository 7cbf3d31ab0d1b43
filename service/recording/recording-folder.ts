/** The folder of recordings. It deletes the oldest by a number in the name, because the clock may have been wrong. */

import * as nodeFiles from 'node:fs/promises';
import { join } from 'node:path';

/** A file of records, or a trace with its sidecar. */
interface RecordedFiles {
  /** Path without an extension. */
  stem: string;
  files: string[];
  order: number;
  bytes: number;
  /** Newest change, UTC in ms. */
  changedMs: number;
}

const NAME = /^((?:records|trace)-\d{8}T\d{6}Z_(\d{1,15}))\.(?:jsonl|csv|json)$/;
/** A line is shorter than this. */
const TAIL_BYTES = 2 ** 20;

export class RecordingFolder {
  private _nextOrder = 1;
  deletedFiles = 0;

  constructor(private readonly _directory: string) {}

  /** Removes incomplete last lines, which a crash leaves. Resolves with the end of the recordings, UTC in ms. */
  async repair(): Promise<number> {
    const all = await this._list();
    const paths = all.flatMap(({ files }) => files).filter((path) => !path.endsWith('.json'));
    for (const path of paths) await repairEnd(path);
    return Math.max(...all.map(({ changedMs }) => changedMs));
  }

  newStem(kind: 'records' | 'trace', beganMs: number): string {
    const stamp = new Date(beganMs).toISOString().replace(/[-:]|\.\d+/g, '');
    return join(this._directory, `${kind}-${stamp}_${this._nextOrder++}`);
  }

  /** Deletes the oldest recordings until at most `most` bytes are left. Files of `open` stems stay and do not count. */
  async deleteBeyond(most: number, open: readonly string[]): Promise<void> {
    const all = (await this._list()).filter(({ stem }) => !open.includes(stem));
    let bytes = all.reduce((sum, one) => sum + one.bytes, 0);
    for (const one of all) {
      if (bytes <= most) break;
      bytes -= one.bytes;
      for (const path of one.files) {
        await nodeFiles.unlink(path);
        this.deletedFiles++;
      }
    }
  }

  /** Lists the recordings, oldest first. */
  private async _list(): Promise<RecordedFiles[]> {
    const { _directory: directory } = this;
    const found = new Map<string, RecordedFiles>();
    for (const name of await nodeFiles.readdir(directory)) {
      const [, stem, order] = NAME.exec(name) ?? [];
      if (stem === undefined) continue;
      const empty = { stem: join(directory, stem), files: [], order: Number(order), bytes: 0, changedMs: 0 };
      const recording: RecordedFiles = found.get(stem) ?? empty;
      const path = join(directory, name);
      recording.files.push(path);
      const { size, mtimeMs } = await nodeFiles.stat(path);
      recording.bytes += size;
      recording.changedMs = Math.max(recording.changedMs, mtimeMs);
      found.set(stem, recording);
    }
    const sorted = [...found.values()].sort((a, b) => a.order - b.order || (a.stem < b.stem ? -1 : 1));
    this._nextOrder = Math.max(this._nextOrder, (sorted.at(-1)?.order ?? 0) + 1);
    return sorted;
  }
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
