/** A file system with limited space on top of the real one. */

import * as nodeFiles from 'node:fs/promises';
import type { FileHandle, FileSystem } from './files.ts';

export class SmallDisk implements FileSystem {
  /** Free bytes; deleting a file frees its bytes. */
  room: number;
  /** Most bytes per write. */
  piece: number;
  /** Open handles. */
  opened = 0;
  readonly readdir = nodeFiles.readdir;
  readonly stat = nodeFiles.stat;

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

  async unlink(path: string): Promise<void> {
    const { size } = await nodeFiles.stat(path);
    await nodeFiles.unlink(path);
    this.room += size;
  }
}

function full(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}
