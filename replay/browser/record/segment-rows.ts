/** Converts a player's requests and stalls into the rows of results. For the benchmark and the demo. */

import { groupBy } from '../../evaluation/group-by.ts';
import type { SegmentRow } from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import type { RequestNote, StallRecord } from './session-record.ts';

type RowRequest = Omit<RequestNote, 'representationId'>;

/** One row per received segment, with all its requests. The last complete request counts; `about` gets it. */
export function segmentRows(
  { requests, stalls }: { requests: readonly RowRequest[]; stalls: readonly StallRecord[] },
  { segmentSeconds, live }: Pick<Scenario, 'segmentSeconds' | 'live'>,
  about: (last: RowRequest) => Pick<SegmentRow, 'sizeBits' | 'reason'>,
): SegmentRow[] {
  // The element stalls slightly before the end of its buffer, so the missing media is half a segment or chunk ahead.
  const aheadSeconds = (live?.chunkSeconds ?? segmentSeconds) / 2;
  const stallsOf = groupBy(stalls, ({ mediaSeconds }) => Math.floor((mediaSeconds + aheadSeconds) / segmentSeconds));
  const ordered = [...groupBy(requests, ({ index }) => index)].sort(([a], [b]) => a - b);
  return ordered.flatMap(([index, own]): SegmentRow[] => {
    const first = own[0]!;
    const last = own.filter(({ outcome }) => outcome === 'complete').at(-1);
    if (last === undefined) return [];
    const { sizeBits, reason } = about(last);
    const row = {
      index,
      bitrateBps: last.bitrateBps,
      sizeBits,
      requestedAtSeconds: first.requestedAtSeconds,
      downloadSeconds: last.endedAtSeconds! - first.requestedAtSeconds,
      bufferLevelSeconds: first.bufferLevelSeconds,
      stallSeconds: totalSeconds(stallsOf.get(index) ?? []),
      abandonedBits: own.reduce((sum, one) => (one === last ? sum : sum + one.receivedBits), 0),
      reason,
    };
    return [row];
  });
}

export function totalSeconds(stalls: readonly StallRecord[]): number {
  return stalls.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
}
