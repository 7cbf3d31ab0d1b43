/**
 * A file that lines are added to and nothing is ever changed in. What could not be written (a full disk) waits and is
 * tried again from the very byte where it stopped; a crash can cost no more than the end of the last line, which
 * `repairEnd` cuts off.
 */

import * as nodeFiles from 'node:fs/promises';

/** What is needed of a file; that of `node:fs/promises` has it. */
export interface FileHandle {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** What is needed of `node:fs/promises` where a disk may be full. */
export interface FileSystem {
  open(path: string, flags: 'a'): Promise<FileHandle>;
  writeFile(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number }>;
}

/** Lines are small: so many bytes of them are written at once. */
const WRITE_BYTES = 256 * 1024;
const LINE_END = 0x0a;

export class AppendFile {
  readonly path: string;
  readonly #files: Pick<FileSystem, 'open'>;
  #handle: FileHandle | undefined;
  #waiting: Buffer[] = [];
  /** Bytes of the first chunk that are in the file already. */
  #written = 0;
  /** Chunks that are being written. */
  #underWay = 0;
  /** Lines and bytes that wait to be written. */
  waitingLines = 0;
  waitingBytes = 0;
  /** What is in the file by now. */
  lines = 0;
  bytes = 0;

  constructor(path: string, files: Pick<FileSystem, 'open'> = nodeFiles) {
    this.path = path;
    this.#files = files;
  }

  /** `text` ends with a line end. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.waitingLines += lineEnds(bytes);
    this.waitingBytes += bytes.length;
  }

  /** Writes all that waits. Rejects if the disk does not take it; the rest keeps waiting. Not twice at once. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#handle ??= await this.#files.open(this.path, 'a');
      const bytes = this.#next();
      const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length).finally(() => {
        this.#underWay = 0;
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

  /** Forgets the oldest waiting chunk that no write has begun, and returns its lines; `''` if there is none. */
  dropOldest(): string {
    const [bytes] = this.#waiting.splice(Math.max(this.#underWay, this.#written > 0 ? 1 : 0), 1);
    if (bytes === undefined) return '';
    this.waitingLines -= lineEnds(bytes);
    this.waitingBytes -= bytes.length;
    return bytes.toString();
  }

  /** The waiting lines; one of which a part is in the file counts as waiting. */
  waitingText(): string {
    return Buffer.concat(this.#waiting).toString('utf8', this.#begun());
  }

  /** Bytes of the lines that are wholly in the file. */
  wholeBytes(): number {
    return this.bytes - this.#written + this.#begun();
  }

  /** To be called when the file has been closed and deleted: the waiting lines begin a new one of the same name. */
  beginAnew(): void {
    const begun = this.#begun();
    this.waitingBytes += this.#written - begun;
    this.#written = begun;
    this.bytes = 0;
    this.lines = 0;
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

  /** Where the line that is being written begins in the first chunk. */
  #begun(): number {
    return this.#written === 0 ? 0 : this.#waiting[0]!.lastIndexOf(LINE_END, this.#written - 1) + 1;
  }

  /** What is to be written next: several chunks at once. */
  #next(): Buffer {
    for (let bytes = 0; this.#underWay < this.#waiting.length && bytes < WRITE_BYTES; this.#underWay++) {
      bytes += this.#waiting[this.#underWay]!.length;
    }
    return Buffer.concat(this.#waiting.slice(0, this.#underWay)).subarray(this.#written);
  }
}

/** Whether a file system refused to take more. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Cuts off a last line that has no end, as a crash leaves it; gives how many bytes that were. */
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
