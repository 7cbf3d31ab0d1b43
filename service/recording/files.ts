/** Files of lines: what the recorder needs of the file system, and how a start continues after an earlier one. */

import { open, truncate } from 'node:fs/promises';
import type { TelemetrySecond } from '../telemetry.ts';

/** Records, a trace, or the sidecar of a trace. */
export interface RecordingFile {
  path: string;
  kind: 'records' | 'trace';
  /** Creation time, UTC in ms by the clock of that time. */
  beganMs: number;
  /** Order of creation; a trace and its sidecar share one. */
  order: number;
  bytes: number;
}

/** The part of `FileHandle` of `node:fs/promises` that is used. */
export interface FileHandle {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** The part of `node:fs/promises` that is used and that tests replace by a full disk. */
export interface FileSystem {
  open(path: string, flags: 'a'): Promise<FileHandle>;
  unlink(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number }>;
}

const LINE_END = 0x0a;
/** Longer than any line. */
const TAIL_BYTES = 2 ** 20;

export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Removes a last line without a newline, which a crash leaves. */
export async function repairEnd(path: string): Promise<void> {
  const { bytes, start } = await tailOf(path);
  const end = bytes.lastIndexOf(LINE_END) + 1;
  if (end < bytes.length && (end > 0 || start === 0)) await truncate(path, start + end);
}

/** The newest recorded second of the dish; undefined if none is known or the clock was set back. `files`: oldest first. */
export async function newestSecond(
  files: readonly RecordingFile[],
  nowMs: number,
): Promise<TelemetrySecond | undefined> {
  for (const { path } of files.filter(({ kind }) => kind === 'records').reverse()) {
    const text = (await tailOf(path)).bytes.toString();
    const lines = [...text.matchAll(/^\{"kind":"telemetry","atMs":\d+[,}].*\}$/gm)];
    const newest = lines.length === 0 ? undefined : (JSON.parse(lines.at(-1)![0]) as TelemetrySecond);
    if (newest !== undefined) return newest.atMs <= nowMs ? newest : undefined;
  }
  return undefined;
}

/** The last bytes of a file, from position `start`. */
async function tailOf(path: string): Promise<{ bytes: Buffer; start: number }> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    return { bytes: buffer.subarray(0, bytesRead), start };
  } finally {
    await handle.close();
  }
}
