/** The input of a controller: the player's situation and the session's history in one `PlayerState`. */

import type { InFlight, PlayerState } from '../../abr/controller.ts';
import { LARGEST_HORIZON } from '../../abr/state/horizon.ts';
import type { ResolvedOptions } from '../page/options.ts';
import type { SegmentRequest, Situation } from '../player-port.ts';
import type { SegmentQualities } from '../requests/segment-qualities.ts';
import type { SegmentSizes } from '../requests/segment-sizes.ts';
import type { SessionRecord } from '../requests/session.ts';
import type { Clocks } from '../requests/session-clock.ts';

export type StateOptions = Pick<ResolvedOptions, 'weightsOf' | 'horizon' | 'pricePerMbps' | 'usesQuality'>;

interface StateParts {
  situation: Situation;
  /** The download to reconsider; undefined for a decision on the next segment. */
  inFlight: InFlight | undefined;
  record: SessionRecord;
  clocks: Clocks;
  sizes: SegmentSizes;
  qualities: SegmentQualities;
  options: StateOptions;
}

/** Returns a copy that is not changed later. */
export function playerState({
  situation,
  inFlight,
  record,
  clocks,
  sizes,
  qualities,
  options,
}: StateParts): PlayerState {
  const { started, last, beforeLastBps, active } = record;
  const { period, ladder, playback } = situation;
  const loading = inFlight && active!.segment;
  const indexInPeriod = loading ? loading.index : nextIndex(situation, last);
  const segmentsRemaining = Math.max(1, period.segmentCount - indexInPeriod) + period.segmentsAfter;
  const rows = Math.min(segmentsRemaining, Math.max(LARGEST_HORIZON, options.horizon));
  const live =
    situation.live && record.live.state(situation, startOf(situation, indexInPeriod, last, loading), clocks.nowSeconds);
  const { pricePerMbps } = options;
  const upcomingQualities = options.usesQuality
    ? qualities.upcoming(situation, { index: indexInPeriod, count: rows, pricePerMbps })
    : undefined;
  const { indexedSeconds } = situation;
  const upcomingSeconds =
    indexedSeconds &&
    Array.from({ length: rows }, (_, k) => indexedSeconds(indexInPeriod + k) || playback.segmentSeconds);
  return {
    ...clocks,
    ...playback,
    started,
    // Before the first picture, a paused element waits for data.
    isPaused: started && playback.isPaused,
    segmentIndex: period.firstIndex + indexInPeriod,
    segmentsRemaining,
    ladderBps: ladder.map(({ bitrateBps }) => bitrateBps),
    upcomingSizesBits: sizes.upcoming(situation, indexInPeriod, rows),
    ...(upcomingSeconds && { upcomingSeconds }),
    ...(upcomingQualities && { upcomingQualities }),
    previousBitrateBps: inFlight ? beforeLastBps : last?.representation.bitrateBps,
    downloads: record.downloads,
    weights: options.weightsOf(situation),
    ...(live && { live }),
  };
}

/**
 * Position in the presentation where the segment in flight, or the next one, starts. The request or the segment before
 * tells it. An index times the present duration is a last resort: durations vary, so after hours it is far off.
 */
function startOf(
  { period, playback: { segmentSeconds } }: Situation,
  index: number,
  last: SegmentRequest | undefined,
  inFlight: SegmentRequest | undefined,
): number {
  const byIndex = period.startSeconds + index * segmentSeconds;
  if (!inFlight) return last && last.index === index - 1 ? last.endSeconds : byIndex;
  const told = inFlight.endSeconds - inFlight.segmentSeconds;
  // A part of a segment may have a request of its own.
  const isPart = inFlight.segmentSeconds < segmentSeconds / 2 && Math.abs(told - byIndex) < segmentSeconds;
  return isPart ? byIndex : told;
}

/** Index in the period of the segment that the player will request next. */
function nextIndex(situation: Situation, last: SegmentRequest | undefined): number {
  const { period, playback, bufferedUntilSeconds, playableUntilSeconds } = situation;
  const { segmentSeconds } = playback;
  const isInPeriod = last?.period.id === period.id;
  // A track switch has discarded buffered media.
  const isReplaced = isInPeriod && bufferedUntilSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  if (isInPeriod && !isReplaced) return last.index + 1;
  // After a seek or a track switch, the segment at the end of the buffer; else the first of the period.
  const skippedSeconds = last && !isReplaced ? 0 : playableUntilSeconds - period.startSeconds;
  return Math.max(0, Math.floor(skippedSeconds / segmentSeconds));
}
