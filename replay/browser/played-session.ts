/** What `runBench` hands on of each session. */

import type { PlannedSession } from '../evaluation/plan.ts';
import type { RequestLogEntry } from '../origin/index.ts';
import type { SessionResult } from '../results.ts';
import type { LinkStatistics } from './emulated-link.ts';
import type { DownloadTiming } from './lateness.ts';
import type { SessionRecord } from './session-record.ts';

/** One played session, accepted or not. */
export interface PlayedSession {
  /** In a household, of this player: `algorithm`, `seed` and `segmentCount` are its own. */
  planned: PlannedSession;
  /** From 1. */
  attempt: number;
  /** Why it was rejected; absent if it was accepted. All sessions of a household are rejected for one. */
  rejected?: string;
  result: SessionResult;
  record: SessionRecord;
  timings: DownloadTiming[];
  /** From `consistency.ts`. */
  inconsistencies: string[];
  originLog: readonly RequestLogEntry[];
  /** Of an emulated link, from its second 0 to the end of the session, or of the household's last. */
  linkStatistics?: LinkStatistics;
}
