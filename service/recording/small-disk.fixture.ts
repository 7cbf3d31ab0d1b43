/** A disk that may be full, on top of the real one, in tests. */

import * as nodeFiles from 'node:fs/promises';
import type { FileHandle, FileSystem } from './append-file.ts';

export class SmallDisk implements FileSystem {
  /** Bytes that it still takes; what is deleted makes room. */
  room: number;
  /** So many at once. */
  piece: number;
  /** Handles that have not been closed. */
  opened = 0;
  readonly readdir = nodeFiles.readdir;
  readonly stat = nodeFiles.stat;
  readonly rename = nodeFiles.rename;

  constructor({ room = 0, piece = Number.POSITIVE_INFINITY } = {}) {
    this.room = room;
    this.piece = piece;
  }

  async open(path: string, flags: 'a'): Promise<FileHandle> {
    const handle = await nodeFiles.open(path, flags);
    this.opened++;
    return {
      write: async (buffer, offset, length) => {
        const bytes = Math.min(length, this.room, this.piece);
        if (bytes === 0) throw full();
        this.room -= bytes;
        return handle.write(buffer, offset, bytes);
      },
      datasync: () => this.sync(),
      close: () => {
        this.opened--;
        return handle.close();
      },
    };
  }

  async sync(): Promise<void> {}

  async writeFile(path: string, text: string): Promise<void> {
    const isWhole = text.length <= this.room;
    // A full disk leaves what it took.
    await nodeFiles.writeFile(path, text.slice(0, this.room));
    this.room -= Math.min(this.room, text.length);
    if (!isWhole) throw full();
  }

  async unlink(path: string): Promise<void> {
    const { size } = await nodeFiles.stat(path);
    await nodeFiles.unlink(path);
    this.room += size;
  }
}

function full(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}
