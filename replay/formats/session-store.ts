/** Keeps finished sessions in a file, so that they need about a kilobyte of memory each. Node only. */

import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SegmentRow, SessionResult } from '../results.ts';
import { writeError, writeFileAtomically } from './write-file.ts';

const LINE_END = ',\n';

export class SessionStore {
  private _descriptor: number | undefined;
  private _bytes = 0;

  /** `file` gets the pieces of `head` and a line per session. Default: a temporary file without a name. */
  constructor(private readonly _place?: { file: string; head: () => Iterable<string> }) {}

  /** Returns the same sessions with their rows in the file, which each use of `segments` reads. */
  add(sessions: readonly SessionResult[]): SessionResult[] {
    const lines = sessions.map((session) => Buffer.from(sessionLine(session)));
    const file = this._write(Buffer.concat(lines));
    let at = this._bytes;
    return sessions.map((session, i) => {
      const place = { file, at, bytes: lines[i]!.length - LINE_END.length };
      at += lines[i]!.length;
      this._bytes = at;
      return new StoredSession(session, place) as unknown as SessionResult;
    });
  }

  close(): void {
    if (this._descriptor !== undefined) closeSync(this._descriptor);
  }

  /** Makes one write, so that a killed process leaves whole households. */
  private _write(lines: Buffer): number {
    try {
      this._descriptor ??= this._open();
      writeFileSync(this._descriptor, lines);
      return this._descriptor;
    } catch (error) {
      throw writeError(this._place?.file ?? tmpdir(), error);
    }
  }

  private _open(): number {
    // In the temporary folder, somebody else could have put a link at a name known beforehand.
    const folder = this._place ? undefined : mkdtempSync(join(tmpdir(), 'leo-abr-sessions-'));
    const path = this._place?.file ?? join(folder!, 'sessions');
    writeFileAtomically(path, this._place?.head() ?? []);
    const descriptor = openSync(path, 'a+');
    this._bytes = fstatSync(descriptor).size;
    if (folder) rmSync(folder, { recursive: true });
    return descriptor;
  }
}

export function sessionLine(session: SessionResult): string {
  return JSON.stringify(session) + LINE_END;
}

class StoredSession {
  private readonly _place: { file: number; at: number; bytes: number };

  constructor({ segments: _, ...rest }: SessionResult, place: { file: number; at: number; bytes: number }) {
    Object.assign(this, rest);
    this._place = place;
  }

  get segments(): SegmentRow[] {
    return this.toJSON().segments;
  }

  toJSON(): SessionResult {
    const { file, at, bytes } = this._place;
    const line = Buffer.allocUnsafe(bytes);
    for (let read = 0; read < bytes; ) read += readSync(file, line, read, bytes - read, at + read);
    return JSON.parse(line.toString());
  }
}
