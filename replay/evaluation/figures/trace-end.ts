/** Finds the sessions that ran past the end of their trace, which then began again. */

import type { SessionResult } from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import { type Trace, wrapSeconds } from '../../trace.ts';

/** A live session ends with its encoder; browsers notice its end, and rounded times show it, within this. */
const LIVE_END_SECONDS = 0.5;
const ROUNDING_SECONDS = 1e-6;

/** With `pastTraceSeconds` if its last known moment on the link is after the trace's end. */
export function withTraceEnd(
  session: SessionResult,
  trace: Pick<Trace, 'durationSeconds'>,
  scenario: Pick<Scenario, 'segmentSeconds' | 'playbackRate'>,
): SessionResult {
  const { startSeconds, household, live } = session;
  const pastTraceSeconds =
    startSeconds + (household?.joinSeconds ?? 0) + lastMomentSeconds(session, scenario) - wrapSeconds(trace);
  return pastTraceSeconds > (live ? LIVE_END_SECONDS : ROUNDING_SECONDS) ? { ...session, pastTraceSeconds } : session;
}

/** Seconds of the session until its last download ended; if it is live or was cut off, until it ended. */
function lastMomentSeconds(
  { segments, startupSeconds, stallSeconds, endedBy, live }: SessionResult,
  { segmentSeconds, playbackRate = 1 }: Pick<Scenario, 'segmentSeconds' | 'playbackRate'>,
): number {
  const last = segments.at(-1);
  const lastDownload = last === undefined ? 0 : last.requestedAtSeconds + last.downloadSeconds;
  if (live) return Math.max(lastDownload, startupSeconds + live.watchedSeconds);
  if (endedBy !== 'cutoff') return lastDownload;
  return Math.max(lastDownload, startupSeconds + stallSeconds + (segments.length * segmentSeconds) / playbackRate);
}
