/**
 * An append-only file of lines. If a write fails (full disk), the rest waits, and the next flush continues at the exact
 * byte. A crash can only truncate the last line, which `repairEnd` removes.
 */

import * as nodeFiles from 'node:fs/promises';

/** The part of `FileHandle` of `node:fs/promises` that is used. */
export interface FileHandle {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** The part of `node:fs/promises` that is used and that tests replace by a full disk. */
export interface FileSystem {
  open(path: string, flags: 'a'): Promise<FileHandle>;
  writeFile(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number }>;
}

/** Chunks are joined to writes of about this size. */
const WRITE_BYTES = 256 * 1024;
const LINE_END = 0x0a;

export class AppendFile {
  readonly path: string;
  readonly #files: Pick<FileSystem, 'open'>;
  #handle: FileHandle | undefined;
  #waiting: Buffer[] = [];
  /** Bytes of the first waiting chunk that are already in the file. */
  #written = 0;
  /** Chunks of the current write. */
  #writingChunks = 0;
  waitingLines = 0;
  waitingBytes = 0;
  /** Lines and bytes in the file. */
  lines = 0;
  bytes = 0;

  constructor(path: string, files: Pick<FileSystem, 'open'> = nodeFiles) {
    this.path = path;
    this.#files = files;
  }

  /** `text` must end with a newline. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.waitingLines += lineEnds(bytes);
    this.waitingBytes += bytes.length;
  }

  /** Writes all waiting chunks. Rejects if a write fails; the rest keeps waiting. Do not call it concurrently. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#handle ??= await this.#files.open(this.path, 'a');
      const bytes = this.#next();
      const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length).finally(() => {
        this.#writingChunks = 0;
      });
      if (bytesWritten === 0) throw Object.assign(new Error('nothing could be written'), { code: 'ENOSPC' });
      const lines = lineEnds(bytes.subarray(0, bytesWritten));
      this.bytes += bytesWritten;
      this.waitingBytes -= bytesWritten;
      this.lines += lines;
      this.waitingLines -= lines;
      this.#written += bytesWritten;
      while (this.#waiting.length > 0 && this.#written >= this.#waiting[0]!.length) {
        this.#written -= this.#waiting.shift()!.length;
      }
    }
  }

  /** Drops the oldest waiting chunk that is not partly written and returns its text; `''` if there is none. */
  dropOldest(): string {
    const [bytes] = this.#waiting.splice(Math.max(this.#writingChunks, this.#written > 0 ? 1 : 0), 1);
    if (bytes === undefined) return '';
    this.waitingLines -= lineEnds(bytes);
    this.waitingBytes -= bytes.length;
    return bytes.toString();
  }

  /** The waiting lines, including one that is partly in the file. */
  waitingText(): string {
    return Buffer.concat(this.#waiting).toString('utf8', this.#begun());
  }

  /** Bytes of the complete lines in the file. */
  wholeBytes(): number {
    return this.bytes - this.#written + this.#begun();
  }

  /** Call it after the file was closed and deleted: the waiting lines will start a new file at the same path. */
  restart(): void {
    const begun = this.#begun();
    this.waitingBytes += this.#written - begun;
    this.#written = begun;
    this.bytes = 0;
    this.lines = 0;
  }

  /** Flushes to the disk itself, so that written lines survive a power cut. */
  async sync(): Promise<void> {
    await this.#handle?.datasync();
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Start of the partly written line in the first chunk. */
  #begun(): number {
    return this.#written === 0 ? 0 : this.#waiting[0]!.lastIndexOf(LINE_END, this.#written - 1) + 1;
  }

  /** The bytes of the next write. */
  #next(): Buffer {
    for (let bytes = 0; this.#writingChunks < this.#waiting.length && bytes < WRITE_BYTES; this.#writingChunks++) {
      bytes += this.#waiting[this.#writingChunks]!.length;
    }
    return Buffer.concat(this.#waiting.slice(0, this.#writingChunks)).subarray(this.#written);
  }
}

export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Removes a last line without a newline, which a crash leaves. Returns the number of bytes removed. */
export async function repairEnd(path: string): Promise<number> {
  const handle = await nodeFiles.open(path, 'r');
  try {
    const { size } = await handle.stat();
    const chunk = Buffer.alloc(64 * 1024);
    let kept = 0;
    for (let end = size; end > 0 && kept === 0; end = Math.max(0, end - chunk.length)) {
      const start = Math.max(0, end - chunk.length);
      const { bytesRead } = await handle.read(chunk, 0, end - start, start);
      const last = chunk.subarray(0, bytesRead).lastIndexOf(LINE_END);
      if (last >= 0) kept = start + last + 1;
    }
    if (kept < size) await nodeFiles.truncate(path, kept);
    return size - kept;
  } finally {
    await handle.close();
  }
}

function lineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count++;
  return count;
}
