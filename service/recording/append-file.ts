/**
 * A file that lines are added to and nothing is ever changed in. What could not be written (a full disk) waits and is
 * tried again from the very byte where it stopped; a crash can cost no more than the end of the last line, which
 * `repairEnd` cuts off.
 */

import { open as openFile, stat, truncate } from 'node:fs/promises';

/** What is needed of a file; `node:fs/promises` has it. */
export interface FileHandle {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export type OpenFile = (path: string, flags: 'a') => Promise<FileHandle>;

export class AppendFile {
  readonly path: string;
  readonly #open: OpenFile;
  #handle: FileHandle | undefined;
  #waiting: { bytes: Buffer; lines: number }[] = [];
  /** Bytes of the first chunk that are in the file already. */
  #written = 0;
  /** Lines and bytes that wait to be written. */
  waitingLines = 0;
  waitingBytes = 0;
  /** What is in the file by now. */
  lines = 0;
  bytes = 0;

  constructor(path: string, open: OpenFile = openFile) {
    this.path = path;
    this.#open = open;
  }

  /** `text` ends with a line end. */
  append(text: string, lines = 1): void {
    const bytes = Buffer.from(text);
    this.#waiting.push({ bytes, lines });
    this.waitingLines += lines;
    this.waitingBytes += bytes.length;
  }

  /** Writes all that waits. Rejects where the disk does not take it; what is left waits on. Not twice at once. */
  async flush(): Promise<void> {
    this.#handle ??= await this.#open(this.path, 'a');
    while (this.#waiting.length > 0) {
      // Lines are small: many of them in one go.
      const { bytes, lines } = this.#merged();
      const { bytesWritten } = await this.#handle.write(bytes, this.#written, bytes.length - this.#written);
      if (bytesWritten === 0) throw Object.assign(new Error('nothing could be written'), { code: 'ENOSPC' });
      this.#written += bytesWritten;
      this.bytes += bytesWritten;
      this.waitingBytes -= bytesWritten;
      if (this.#written < bytes.length) continue;
      this.#waiting.shift();
      this.#written = 0;
      this.waitingLines -= lines;
      this.lines += lines;
    }
  }

  /** Onto the disk itself, so that a power cut costs nothing written before. */
  async sync(): Promise<void> {
    await this.#handle?.datasync();
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** All that waits as one chunk, unless the first one has been begun. */
  #merged(): { bytes: Buffer; lines: number } {
    if (this.#written === 0 && this.#waiting.length > 1) {
      const bytes = Buffer.concat(this.#waiting.map((chunk) => chunk.bytes));
      const lines = this.#waiting.reduce((sum, chunk) => sum + chunk.lines, 0);
      this.#waiting = [{ bytes, lines }];
    }
    return this.#waiting[0]!;
  }
}

/** Cuts off a last line that has no end, as a crash leaves it; gives how many bytes that were. */
export async function repairEnd(path: string): Promise<number> {
  const { size } = await stat(path);
  const handle = await openFile(path, 'r');
  try {
    const chunk = Buffer.alloc(64 * 1024);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunk.length);
      await handle.read(chunk, 0, end - start, start);
      const last = chunk.subarray(0, end - start).lastIndexOf(0x0a);
      if (last >= 0) {
        const kept = start + last + 1;
        if (kept < size) await truncate(path, kept);
        return size - kept;
      }
      end = start;
    }
    if (size > 0) await truncate(path, 0);
    return size;
  } finally {
    await handle.close();
  }
}
