/** A file system with limited space, which writes to the real file system. */

import * as nodeFiles from 'node:fs/promises';
import type { AppendFiles } from './whole-lines.ts';

export class SmallDisk implements AppendFiles {
  /** `room`: free bytes. Truncated bytes become free. */
  constructor(public room = 0) {}

  /** Writes the bytes that fit, then fails if any are left. */
  appendFile: AppendFiles['appendFile'] = async (path, data) => {
    const bytes = data as Uint8Array;
    const fitting = Math.min(bytes.length, this.room);
    this.room -= fitting;
    await nodeFiles.appendFile(path, bytes.subarray(0, fitting));
    if (fitting < bytes.length) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  };

  truncate: AppendFiles['truncate'] = async (path, length = 0) => {
    this.room += (await nodeFiles.stat(path)).size - length;
    await nodeFiles.truncate(path, length);
  };
}
