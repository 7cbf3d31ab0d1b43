/** Reads back what `leo-abr bench --raw` wrote: a JSON line per session played. */

import { InputError, quoted } from '../../formats/input-error.ts';
import type { RequestLogEntry } from '../../origin/index.ts';
import type { SessionResult } from '../../results.ts';
import type { DownloadTiming } from '../lateness.ts';
import type { SessionRecord } from '../session-record.ts';

export interface RawSession {
  trace: string;
  dataset: string;
  startSeconds: number;
  segmentCount: number;
  algorithm: string;
  seed: number;
  attempt: number;
  rejected?: string;
  result: SessionResult;
  record: SessionRecord;
  timings: DownloadTiming[];
  inconsistencies: string[];
  originLog: RequestLogEntry[];
}

/** All sessions of a raw file, rejected ones too. @throws {InputError} with file and line for what is none. */
export function parseRawSessions(text: string, file: string): RawSession[] {
  return text.split('\n').flatMap((line, i) => {
    if (line === '') return [];
    try {
      const session = JSON.parse(line) as RawSession;
      if (!Array.isArray(session.record.requests) || !Array.isArray(session.timings))
        throw new TypeError('not a session');
      return [session];
    } catch (error) {
      throw new InputError(
        { file, line: i + 1, expected: 'a session as leo-abr bench writes it', got: quoted(line) },
        { cause: error },
      );
    }
  });
}
