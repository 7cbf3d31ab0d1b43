/** One session over time, from its rows (and its trace, where there is one): what the time series figures draw. */

import type { ResolvedScenario, SessionResult } from '../../replay/results.ts';
import { traceScaleOf } from '../../replay/scenarios.ts';
import { linkSteps, meanRateBps, type Trace, wrapSeconds } from '../../replay/trace.ts';

/** Seconds count from the session's first request. */
export interface SessionSeries {
  /** What the link carries; steps that hold until the next. Absent without the trace. */
  capacity: { seconds: number; mbps: number }[] | undefined;
  /** Bitrate of the segments, from each one's request on. */
  asked: { seconds: number; mbps: number }[];
  /** Corners of the buffer level. */
  buffer: { seconds: number; level: number }[];
  stalls: { from: number; to: number }[];
  endSeconds: number;
}

/** `undefined` for a session without a segment. */
export function sessionSeries(
  { segments, startSeconds }: Pick<SessionResult, 'segments' | 'startSeconds'>,
  scenario: ResolvedScenario,
  trace?: Trace,
): SessionSeries | undefined {
  const last = segments.at(-1);
  if (last === undefined) return undefined;
  const { segmentSeconds } = scenario;
  const buffer: SessionSeries['buffer'] = [];
  const stalls: SessionSeries['stalls'] = [];
  let level = 0;
  for (const [i, row] of segments.entries()) {
    const arrivesAt = row.requestedAtSeconds + row.downloadSeconds;
    // A download's stall ends with it: the buffer ran empty before, and the segment set playback going again.
    const emptyAt = Math.max(row.requestedAtSeconds, arrivesAt - row.stallSeconds);
    level = i === 0 ? 0 : Math.max(0, row.bufferLevelSeconds - (emptyAt - row.requestedAtSeconds));
    buffer.push({ seconds: row.requestedAtSeconds, level: row.bufferLevelSeconds });
    buffer.push({ seconds: emptyAt, level });
    buffer.push({ seconds: arrivesAt, level });
    level += segmentSeconds;
    buffer.push({ seconds: arrivesAt, level });
    if (row.stallSeconds > 0) stalls.push({ from: emptyAt, to: arrivesAt });
  }
  const endSeconds = last.requestedAtSeconds + last.downloadSeconds + level;
  buffer.push({ seconds: endSeconds, level: 0 });
  return {
    capacity: trace && capacitySteps(trace, scenario, { startSeconds, endSeconds }),
    asked: [
      ...segments.map(({ requestedAtSeconds, bitrateBps }) => ({
        seconds: requestedAtSeconds,
        mbps: bitrateBps / 1e6,
      })),
      { seconds: last.requestedAtSeconds + last.downloadSeconds, mbps: last.bitrateBps / 1e6 },
    ],
    buffer,
    stalls,
    endSeconds,
  };
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
  // The turn of the wrapped trace in which the session starts.
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
