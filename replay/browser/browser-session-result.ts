/** Converts a page's record of a session into the row of results that the simulator gives too. */

import { groupBy } from '../evaluation/group-by.ts';
import { liveMetrics } from '../evaluation/live-metrics.ts';
import type { PlannedSession } from '../evaluation/plan.ts';
import { decisionMicros } from '../evaluation/quantiles.ts';
import { withTraceEnd } from '../evaluation/trace-end.ts';
import type { ResolvedScenario, SegmentRow, SessionResult } from '../results.ts';
import { roundedSession, sessionTotals } from '../simulator/session-result.ts';
import { playbackHistory } from './playback-history.ts';
import type { SessionRecord } from './session-record.ts';

/** The session's rounded result; `timings` adds the durations of decisions. */
export function browserSessionResult(
  record: SessionRecord,
  { planned, scenario, timings }: { planned: PlannedSession; scenario: ResolvedScenario; timings: boolean },
): SessionResult {
  const { trace, startSeconds, segmentCount, algorithm, seed } = planned;
  const segments = segmentRows(scenario, record);
  const stallSeconds = record.stalls.reduce((sum, stall) => sum + stall.endSeconds - stall.startSeconds, 0);
  const stallOfRows = segments.reduce((sum, row) => sum + row.stallSeconds, 0);
  const { live } = scenario;
  // A live session ends in the middle of a download, which is no waste.
  const ended = record.requests.filter(({ endedAtSeconds }) => endedAtSeconds < (record.live?.endSeconds ?? Infinity));
  const received = ended.reduce((sum, request) => sum + request.receivedBits, 0);
  const used = segments.reduce((sum, row) => sum + row.sizeBits + row.abandonedBits, 0);
  const session: SessionResult = {
    trace: trace.name,
    dataset: trace.metadata.dataset,
    group: trace.metadata.recordingGroup,
    startSeconds,
    algorithm,
    seed,
    endedBy: record.endedBy,
    ...(record.fault !== undefined && { fault: record.fault }),
    segments,
    ...sessionTotals(
      {
        segments,
        startupSeconds: record.startupSeconds ?? lastMoment(record),
        stallCount: record.stalls.length,
        // A live session has the segments that came into being, less those that it jumped over.
        ...(live === undefined && { segmentCount }),
        unfinishedStallSeconds: Math.max(0, stallSeconds - stallOfRows),
        unfinishedBits: Math.max(0, received - used),
      },
      scenario,
    ),
    ...(live &&
      record.live && {
        live: liveMetrics({
          history: playbackHistory({ ...record, live: record.live }, live),
          bitratesBps: segments.map(({ bitrateBps }) => bitrateBps),
          segmentSeconds: scenario.segmentSeconds,
          ladderBps: scenario.ladderBps,
          jumps: record.live.jumps,
        }),
      }),
    ...(timings && decisionMicros(record.decisionMillis)),
  };
  return roundedSession(withTraceEnd(session, trace, scenario));
}

/** One row per received segment, with all its requests. */
function segmentRows(scenario: ResolvedScenario, record: SessionRecord): SegmentRow[] {
  const inOrder = [...record.requests].sort((a, b) => a.requestedAtSeconds - b.requestedAtSeconds);
  const byIndex = groupBy(inOrder, ({ index }) => index);
  const ordered = [...byIndex].sort(([a], [b]) => a - b);
  return ordered.flatMap(([index, requests]): SegmentRow[] => {
    const first = requests[0]!;
    const last = requests.filter(({ outcome }) => outcome === 'complete').at(-1);
    if (last === undefined) return [];
    const others = requests.filter((request) => request !== last);
    const representation = scenario.ladderBps.indexOf(last.bitrateBps);
    const row = {
      index,
      bitrateBps: last.bitrateBps,
      sizeBits: scenario.segmentSizesBits[index]![representation]!,
      requestedAtSeconds: first.requestedAtSeconds,
      downloadSeconds: last.endedAtSeconds - first.requestedAtSeconds,
      bufferLevelSeconds: first.bufferLevelSeconds,
      stallSeconds: stallOf(index, scenario, record),
      abandonedBits: others.reduce((sum, request) => sum + request.receivedBits, 0),
      reason: reasonOf(index, record),
    };
    return [row];
  });
}

/** The element stalls slightly before the end of its buffer, so what it lacks is half a segment or chunk ahead. */
function stallOf(index: number, { segmentSeconds, live }: ResolvedScenario, { stalls }: SessionRecord): number {
  const aheadSeconds = (live?.chunkSeconds ?? segmentSeconds) / 2;
  return stalls
    .filter(({ mediaSeconds }) => Math.floor((mediaSeconds + aheadSeconds) / segmentSeconds) === index)
    .reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
}

/** The reason of the last decision on the segment; '' if dash.js decided. */
function reasonOf(index: number, { decisions }: SessionRecord): string {
  return decisions.filter(({ state }) => state.segmentIndex === index).at(-1)?.decision.reason ?? '';
}

function lastMoment({ requests }: SessionRecord): number {
  return Math.max(0, ...requests.map(({ endedAtSeconds }) => endedAtSeconds));
}
