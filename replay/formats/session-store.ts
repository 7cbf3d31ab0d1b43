/**
 * Keeps finished sessions in a file, so that a benchmark needs about a kilobyte of memory per session, however many
 * segments it has. Node only.
 */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { SegmentRow, SessionResult } from '../results.ts';
import { writeFileAtomically } from './write-file.ts';

const LINE_END = ',\n';

export class SessionStore {
  readonly #place: { file: string; head: () => string } | undefined;
  #descriptor: number | undefined;
  #bytes = 0;

  /**
   * `file`: replaced by `head` and the sessions' lines when the first one is added. Default: a temporary file without a
   * name, which vanishes with the process.
   */
  constructor(place?: { file: string; head: () => string }) {
    this.#place = place;
  }

  /**
   * The same sessions, with their rows in the file; each use of `segments` reads them.
   * @throws {InputError} if there can be no file.
   */
  add(sessions: readonly SessionResult[]): SessionResult[] {
    this.#descriptor ??= this.#open();
    const file = this.#descriptor;
    const lines = sessions.map((session) => Buffer.from(sessionLine(session)));
    let at = this.#bytes;
    // At once, so that a process that is killed leaves whole households.
    const all = Buffer.concat(lines);
    for (let written = 0; written < all.length; ) {
      written += writeSync(file, all, written, all.length - written, at + written);
    }
    this.#bytes += all.length;
    return sessions.map((session, i) => {
      const stored = new StoredSession(session, { file, at, bytes: lines[i]!.length - LINE_END.length });
      at += lines[i]!.length;
      return stored as unknown as SessionResult;
    });
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  #open(): number {
    if (this.#place !== undefined) {
      const head = this.#place.head();
      writeFileAtomically(this.#place.file, head);
      this.#bytes = Buffer.byteLength(head);
      return openSync(this.#place.file, 'r+');
    }
    const path = join(tmpdir(), `leo-abr-sessions.${process.pid}.tmp`);
    try {
      const descriptor = openSync(path, 'wx+');
      rmSync(path);
      return descriptor;
    } catch (error) {
      throw new InputError(path, 'a temporary file', undefined, (error as Error).message);
    }
  }
}

/** The line of a session in a file of results that goes on. */
export function sessionLine(session: SessionResult): string {
  return JSON.stringify(session) + LINE_END;
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
