/** Converts a page's record of a session into the row of results that the simulator gives too. */

import { withLinkNotes } from '../../evaluation/figures/link-notes.ts';
import { liveMetrics } from '../../evaluation/figures/live-metrics.ts';
import type { PlannedSession } from '../../evaluation/plan/plan.ts';
import { decisionMicros } from '../../evaluation/statistics/quantiles.ts';
import type { ResolvedScenario, SessionResult } from '../../results.ts';
import { countedSegments, roundedSession, sessionTotals } from '../../session-result.ts';
import { playbackHistory } from './playback-history.ts';
import { segmentRows, totalSeconds } from './segment-rows.ts';
import type { BrowserSessionRecord } from './session-record.ts';

export function browserSessionResult(
  record: BrowserSessionRecord,
  { planned, scenario, timings }: { planned: PlannedSession; scenario: ResolvedScenario; timings: boolean },
): SessionResult {
  const { trace, startSeconds, segmentCount, algorithm, seed } = planned;
  const segments = segmentRows(record, scenario, ({ index, bitrateBps }) => ({
    sizeBits: scenario.segmentSizesBits[index]![scenario.ladderBps.indexOf(bitrateBps)]!,
    // '' if the player's own ABR decided.
    reason: record.decisions.filter(({ state }) => state.segmentIndex === index).at(-1)?.decision.reason ?? '',
  }));
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
        startupSeconds:
          record.startupSeconds ?? Math.max(0, ...record.requests.map(({ endedAtSeconds }) => endedAtSeconds)),
        stalls: record.stalls,
        segmentCount: countedSegments({ ...record, segmentCount }, scenario),
        unfinishedStallSeconds: Math.max(0, totalSeconds(record.stalls) - stallOfRows),
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
  return roundedSession(withLinkNotes(session, planned, scenario));
}
