/** Figures of the start of a session on demand, which every viewer sees. `FirstMinute` defines them. */

import { perceivedQoe } from '../../../abr/index.ts';
import type { FirstMinute, SessionResult } from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import { qualitiesOf, type RatedScenario } from '../../segment-qualities.ts';

/** Media after which the bitrate counts as the session's later bitrate. */
const LATER_SECONDS = 60;
/** Share of the later mean at which the bitrate has arrived. */
const RAMP_SHARE = 0.8;

type PlayedSegments = Pick<SessionResult, 'segments' | 'startupSeconds' | 'endedBy'>;
type ScenarioRules = Pick<Scenario, 'segmentSeconds' | 'segmentCount'> & RatedScenario;

/** Computes the figures from segments, so that files of any version have them. */
export function firstMinute({ segments, startupSeconds, endedBy }: PlayedSegments, rules: ScenarioRules): FirstMinute {
  // Each use of a stored session's segments reads them from its file.
  const session = { segments, startupSeconds, endedBy };
  return { perceivedFirst60Seconds: perceivedUpTo(60, session, rules), rampSeconds: rampSeconds(session, rules) };
}

/** A row's stall is before its segment. Segments that never arrived count as media of quality 0. */
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
