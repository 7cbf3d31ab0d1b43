/** Finds the sessions whose link has a mean rate below the lowest bitrate: no algorithm can play them well. */

import { PiecewisePath } from '../../../abr/index.ts';
import { remembered } from '../../remembered.ts';
import type { SessionResult } from '../../results.ts';
import { liveSessionSeconds, type Scenario, traceScaleOf } from '../../scenarios.ts';
import { linkSteps, meanRateBps, type Trace } from '../../trace.ts';

const PATHS = new WeakMap<Trace, { path: PiecewisePath; meanBps: number }>();

/**
 * With `slowLinkBps` if the link carries less payload than the lowest bitrate: its mean over the seconds that the session's
 * media takes to play, which is the same for all algorithms. `segmentCount` is the planned one.
 */
export function withSlowLink(
  { slowLinkBps: _, ...session }: SessionResult,
  { trace, segmentCount }: { trace: Trace; segmentCount: number },
  scenario: Scenario,
): SessionResult {
  const { segmentSeconds, playbackRate = 1, live, payloadShare, ladderBps } = scenario;
  const { path, meanBps } = remembered(PATHS, trace, () => ({
    path: new PiecewisePath(linkSteps(trace, 1)),
    meanBps: meanRateBps(trace),
  }));
  const seconds = live
    ? liveSessionSeconds({ segmentSeconds, segmentCount, live })
    : (segmentCount * segmentSeconds) / playbackRate;
  const own = path.from(session.startSeconds + (session.household?.joinSeconds ?? 0));
  const linkBps = (own.cumulativeBits(seconds) / seconds) * traceScaleOf(scenario, meanBps) * payloadShare;
  return linkBps < ladderBps[0]! ? { ...session, slowLinkBps: linkBps } : session;
}
