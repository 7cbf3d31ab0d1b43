/**
 * Keeps the rows of finished sessions in a file, so that a benchmark needs about a kilobyte of memory per session,
 * however many segments it has. Node only.
 */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { SegmentRow, SessionResult } from '../results.ts';

export class SessionStore {
  readonly #file: number;
  #bytes = 0;

  /**
   * The file is nameless: it vanishes with the process.
   * @throws {InputError} of `--out` if there can be no file in the folder.
   */
  constructor(folder: string) {
    const path = join(folder, `.sessions.${process.pid}.tmp`);
    try {
      this.#file = openSync(path, 'wx+');
      rmSync(path);
    } catch (error) {
      throw new InputError('--out', 'a folder for temporary files', undefined, (error as Error).message);
    }
  }

  /** The same session with its rows in the file; each use of `segments` reads them. */
  add(session: SessionResult): SessionResult {
    const line = Buffer.from(JSON.stringify(session));
    const at = this.#bytes;
    for (let written = 0; written < line.length; ) {
      written += writeSync(this.#file, line, written, line.length - written, at + written);
    }
    this.#bytes += line.length;
    return new StoredSession(session, { file: this.#file, at, bytes: line.length }) as unknown as SessionResult;
  }

  close(): void {
    closeSync(this.#file);
  }
}

class StoredSession {
  readonly #place: { file: number; at: number; bytes: number };

  constructor({ segments: _, ...rest }: SessionResult, place: { file: number; at: number; bytes: number }) {
    Object.assign(this, rest);
    this.#place = place;
  }

  /** The whole session as JSON. */
  get json(): string {
    const { file, at, bytes } = this.#place;
    const line = Buffer.allocUnsafe(bytes);
    for (let read = 0; read < bytes; ) read += readSync(file, line, read, bytes - read, at + read);
    return line.toString();
  }

  get segments(): SegmentRow[] {
    return (JSON.parse(this.json) as SessionResult).segments;
  }

  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}
