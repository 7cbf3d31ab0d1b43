/** Notes on a session's link: whether its trace ended and began again, and whether the link was too slow. */

import { linkOf } from '../../link/trace-link.ts';
import type { SessionResult } from '../../results.ts';
import { liveSessionSeconds, type Scenario } from '../../scenarios.ts';
import { type Trace, wrapSeconds } from '../../trace.ts';

/** A live session ends with its encoder. Browsers notice the end, and rounded times show it, within this time. */
const LIVE_END_SECONDS = 0.5;
const ROUNDING_SECONDS = 1e-6;

/**
 * Adds `pastTraceSeconds` if the session's last known moment on the link is after the trace's end, and `slowLinkBps` if
 * the link's mean payload rate is below the lowest bitrate, so that no algorithm can play well. The mean is over the
 * seconds that the session's media takes to play, which is the same for all algorithms. `segmentCount` is the planned
 * number.
 */
export function withLinkNotes(
  { slowLinkBps: _, ...session }: SessionResult,
  { trace, segmentCount }: { trace: Trace; segmentCount: number },
  scenario: Scenario,
): SessionResult {
  const { startSeconds, household, live: isLive } = session;
  const { segmentSeconds, live, ladderBps } = scenario;
  const beginSeconds = startSeconds + (household?.joinSeconds ?? 0);
  const pastTraceSeconds = beginSeconds + lastMomentSeconds(session, scenario) - wrapSeconds(trace);
  const seconds = live ? liveSessionSeconds({ segmentSeconds, segmentCount, live }) : segmentCount * segmentSeconds;
  const linkBps = linkOf(trace, scenario).from(beginSeconds).cumulativeBits(seconds) / seconds;
  return {
    ...session,
    ...(pastTraceSeconds > (isLive ? LIVE_END_SECONDS : ROUNDING_SECONDS) && { pastTraceSeconds }),
    ...(linkBps < ladderBps[0]! && { slowLinkBps: linkBps }),
  };
}

/** Seconds of the session until its last download ended; if it is live or was cut off, until it ended. */
function lastMomentSeconds(
  { segments, startupSeconds, stallSeconds, endedBy, live }: SessionResult,
  { segmentSeconds }: Scenario,
): number {
  const last = segments.at(-1);
  const lastDownload = last === undefined ? 0 : last.requestedAtSeconds + last.downloadSeconds;
  if (live) return Math.max(lastDownload, startupSeconds + live.watchedSeconds);
  if (endedBy !== 'cutoff') return lastDownload;
  return Math.max(lastDownload, startupSeconds + stallSeconds + segments.length * segmentSeconds);
}
