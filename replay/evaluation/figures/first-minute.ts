/** Figures of the start of a session on demand, which every viewer sees. README.md defines them. */

import { perceivedQoe, QOE_UNIT_SECONDS } from '../../../abr/index.ts';
import { watchShare } from '../../../abr/state/watch-time.ts';
import type { FirstMinute, SessionResult } from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import { qualitiesOf, type RatedScenario } from '../../segment-qualities.ts';

/** Media after which the bitrate counts as the session's later bitrate. */
const LATER_SECONDS = 60;
/** Median watch time of the watch-weighted QoE. */
const MEDIAN_WATCH_SECONDS = 60;
/** Share of the later mean at which the bitrate has arrived. */
const RAMP_SHARE = 0.8;

type PlayedSegments = Pick<SessionResult, 'segments' | 'startupSeconds' | 'endedBy'>;
type ScenarioRules = Pick<Scenario, 'segmentSeconds' | 'segmentCount' | 'mu' | 'lambda'> & RatedScenario;

/** Computes the figures from segments, so that files of any version have them. `watchSeconds`: median watch time. */
export function firstMinute(
  { segments, startupSeconds, endedBy }: PlayedSegments,
  rules: ScenarioRules,
  watchSeconds = MEDIAN_WATCH_SECONDS,
): FirstMinute {
  // Each use of a stored session's segments reads them from its file.
  const session = { segments, startupSeconds, endedBy };
  const upTo = (seconds: number) => (from: number, to: number) =>
    Math.min(1, Math.max(0, (seconds - from) / Math.max(1e-9, to - from)));
  const watched = (medianSeconds: number) =>
    weightedQoe(session, rules, (from, to) => watchShare((from + to) / 2, medianSeconds));
  return {
    qoeFirst30Seconds: weightedQoe(session, rules, upTo(30)),
    qoeFirst60Seconds: weightedQoe(session, rules, upTo(60)),
    perceivedFirst60Seconds: perceivedUpTo(60, session, rules),
    watchedQoe: watched(watchSeconds),
    watchedQoe30Seconds: watched(30),
    watchedQoe600Seconds: watched(600),
    rampSeconds: rampSeconds(session, rules),
  };
}

/**
 * QoE with a weight for each stretch of media. A segment's quality has the weight of its stretch; its switch and its
 * stall have the weight at the segment's begin. Segments that never arrived count as media of quality 0.
 */
function weightedQoe(
  { segments, startupSeconds, endedBy }: PlayedSegments,
  { segmentSeconds, segmentCount, mu, lambda }: ScenarioRules,
  weightOf: (fromSeconds: number, toSeconds: number) => number,
): number {
  let value = -mu * startupSeconds;
  let units = 0;
  for (let i = 0; i < (endedBy === 'end' ? segments.length : segmentCount); i++) {
    const from = i * segmentSeconds;
    const weight = weightOf(from, from + segmentSeconds) * (segmentSeconds / QOE_UNIT_SECONDS);
    units += weight;
    const segment = segments[i];
    if (segment === undefined) continue;
    const change = i === 0 ? 0 : Math.abs(segment.bitrateBps - segments[i - 1]!.bitrateBps);
    value += (weight * segment.bitrateBps) / 1e6;
    value -= weightOf(from, from) * ((lambda * change) / 1e6 + mu * segment.stallSeconds);
  }
  return value / units;
}

/** A row's stall is before its segment. Segments that never arrived count as in `weightedQoe`. */
function perceivedUpTo(seconds: number, { segments, startupSeconds, endedBy }: PlayedSegments, rules: ScenarioRules) {
  const { segmentSeconds, segmentCount: planned } = rules;
  const segmentCount = Math.min(Math.ceil(seconds / segmentSeconds), endedBy === 'end' ? segments.length : planned);
  const played = segments.slice(0, segmentCount);
  let stalled = 0;
  const stalls = played.flatMap(({ stallSeconds }, i) => {
    const startSeconds = i * segmentSeconds + stalled;
    stalled += stallSeconds;
    return stallSeconds > 0 ? [{ startSeconds, endSeconds: startSeconds + stallSeconds }] : [];
  });
  const qualities = qualitiesOf(played, rules);
  return perceivedQoe({ qualities, stalls, segmentSeconds, startupSeconds, segmentCount });
}

function rampSeconds({ segments, startupSeconds }: PlayedSegments, { segmentSeconds }: ScenarioRules): number {
  const later = segments.slice(Math.ceil(LATER_SECONDS / segmentSeconds));
  const counted = later.length > 0 ? later : segments;
  const meanBps = counted.reduce((sum, { bitrateBps }) => sum + bitrateBps, 0) / counted.length;
  let seconds = startupSeconds;
  for (const { bitrateBps, stallSeconds } of segments) {
    seconds += stallSeconds;
    if (bitrateBps >= RAMP_SHARE * meanBps) break;
    seconds += segmentSeconds;
  }
  return seconds;
}
