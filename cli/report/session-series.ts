/** One session as time series for its figure, from its segments and, if given, its trace. */

import type { ResolvedScenario, SessionResult } from '../../replay/results.ts';
import { traceScaleOf } from '../../replay/scenarios.ts';
import { linkSteps, meanRateBps, type Trace, wrapSeconds } from '../../replay/trace.ts';

/** All times are in seconds since the session's first request. */
export interface SessionSeries {
  /** Capacity of the link; a step lasts until the next. Undefined without the trace. */
  capacity: { seconds: number; mbps: number }[] | undefined;
  /** Bitrate of each segment, from its request on. */
  requested: { seconds: number; mbps: number }[];
  /** Corners of the buffer level. */
  buffer: { seconds: number; bufferSeconds: number }[];
  stalls: { from: number; to: number }[];
  endSeconds: number;
}

/** `undefined` for a session without a segment. */
export function sessionSeries(
  { segments, startSeconds: firstSeconds, household }: Pick<SessionResult, 'segments' | 'startSeconds' | 'household'>,
  scenario: ResolvedScenario,
  trace?: Trace,
): SessionSeries | undefined {
  const last = segments.at(-1);
  if (last === undefined) return undefined;
  const startSeconds = firstSeconds + (household?.joinSeconds ?? 0);
  const buffer: SessionSeries['buffer'] = [];
  const stalls: SessionSeries['stalls'] = [];
  let bufferSeconds = 0;
  for (const [i, { requestedAtSeconds, downloadSeconds, stallSeconds, bufferLevelSeconds }] of segments.entries()) {
    const arrivesAt = requestedAtSeconds + downloadSeconds;
    // A stall ends with its download: the buffer ran empty before, and the segment restarts playback.
    const emptyAt = Math.max(requestedAtSeconds, arrivesAt - stallSeconds);
    const least = i === 0 ? 0 : Math.max(0, bufferLevelSeconds - (emptyAt - requestedAtSeconds));
    bufferSeconds = least + scenario.segmentSeconds;
    buffer.push(
      { seconds: requestedAtSeconds, bufferSeconds: bufferLevelSeconds },
      { seconds: emptyAt, bufferSeconds: least },
      { seconds: arrivesAt, bufferSeconds: least },
      { seconds: arrivesAt, bufferSeconds },
    );
    if (stallSeconds > 0) stalls.push({ from: emptyAt, to: arrivesAt });
  }
  const lastArrivesAt = last.requestedAtSeconds + last.downloadSeconds;
  const endSeconds = lastArrivesAt + bufferSeconds;
  buffer.push({ seconds: endSeconds, bufferSeconds: 0 });
  const requested = [...segments, { ...last, requestedAtSeconds: lastArrivesAt }].map((segment) => ({
    seconds: segment.requestedAtSeconds,
    mbps: segment.bitrateBps / 1e6,
  }));
  const capacity = trace && capacitySteps(trace, scenario, { startSeconds, endSeconds });
  return { capacity, requested, buffer, stalls, endSeconds };
}

function capacitySteps(
  trace: Trace,
  scenario: ResolvedScenario,
  { startSeconds, endSeconds }: { startSeconds: number; endSeconds: number },
): { seconds: number; mbps: number }[] {
  const scale = traceScaleOf(scenario, meanRateBps(trace)) * scenario.payloadShare;
  const { stepEndsSeconds, ratesBps } = linkSteps(trace, scale);
  const wrap = wrapSeconds(trace);
  const steps: { seconds: number; mbps: number }[] = [];
  // From the repetition of the trace in which the session starts.
  for (let turn = Math.floor(startSeconds / wrap); turn * wrap < startSeconds + endSeconds; turn++) {
    let from = turn * wrap;
    for (const [i, end] of stepEndsSeconds.entries()) {
      const to = turn * wrap + end;
      if (to > startSeconds && from < startSeconds + endSeconds) {
        steps.push({ seconds: Math.max(0, from - startSeconds), mbps: ratesBps[i]! / 1e6 });
      }
      from = to;
    }
  }
  const last = steps.at(-1);
  if (last !== undefined) steps.push({ seconds: endSeconds, mbps: last.mbps });
  return steps;
}
