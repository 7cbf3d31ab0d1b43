/** The input of a controller: the player's situation and the session's history in one `PlayerState`. */

import type { AssumedLink, InFlight, PlayerState } from '../../abr/controller.ts';
import { LARGEST_HORIZON } from '../../abr/state/horizon.ts';
import type { ResolvedOptions } from '../assemble.ts';
import type { SegmentRequest, Situation } from '../player-port.ts';
import type { SegmentQualities } from '../requests/segment-qualities.ts';
import type { SegmentSizes } from '../requests/segment-sizes.ts';
import type { SessionRecord } from '../requests/session.ts';
import type { Clocks } from '../requests/session-clock.ts';
import { type NextSegment, UpcomingSegments } from '../requests/upcoming-segments.ts';

export type StateOptions = Pick<ResolvedOptions, 'weightsOf' | 'horizon' | 'usesQuality'>;

interface StateParts {
  situation: Situation;
  /** The download to reconsider; undefined for a decision on the next segment. */
  inFlight: InFlight | undefined;
  record: SessionRecord;
  clocks: Clocks;
  assumed: AssumedLink | undefined;
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
  assumed,
  sizes,
  qualities,
  options,
}: StateParts): PlayerState {
  const { started, last, beforeLastBps, active } = record;
  const { period, ladder, playback } = situation;
  const loading = inFlight && active!.segment;
  const next: NextSegment = loading
    ? { index: loading.index, startSeconds: loading.endSeconds - loading.segmentSeconds, id: loading.representation.id }
    : nextSegment(situation, last);
  const segments = new UpcomingSegments(situation, next, Math.max(LARGEST_HORIZON, options.horizon));
  const indexInPeriod = segments.rows[0]!.index;
  const live = record.live.state(situation, startOf(situation, next, loading), clocks.nowSeconds);
  const upcomingQualities = options.usesQuality ? qualities.upcoming(situation, segments) : undefined;
  const weights = options.weightsOf(situation);
  // Before a size is learnt, an estimated bitrate says little about what its bits cost.
  const isGuess = record.downloads.length === 0 && ladder.some(({ isEstimated }) => isEstimated);
  const { sizesBits, nextSeconds } = sizes.upcoming(situation, segments);
  return {
    ...clocks,
    ...playback,
    started,
    // Before the first picture, a paused element waits for data.
    isPaused: started && playback.isPaused,
    segmentIndex: period.firstIndex + indexInPeriod,
    segmentsRemaining: segments.remaining,
    ladderBps: ladder.map(({ bitrateBps }) => bitrateBps),
    upcomingSizesBits: sizesBits,
    ...(situation.segmentAt && { upcomingSeconds: segments.rows.map(({ seconds }) => seconds) }),
    ...(nextSeconds && { nextSeconds }),
    ...(upcomingQualities && { upcomingQualities }),
    previousBitrateBps: inFlight ? beforeLastBps : last?.representation.bitrateBps,
    downloads: record.downloads,
    ...(assumed && { assumed }),
    weights: isGuess ? { ...weights, pricePerMbps: 0 } : weights,
    ...(live && { live }),
  };
}

/**
 * Position in the presentation where the segment in flight, or the next one, starts. The request or the segment before
 * tells it. An index times the present duration is a last resort: durations vary, so after hours it is far off.
 */
function startOf(
  { period, playback: { segmentSeconds } }: Situation,
  { index, startSeconds, isAfterSeek }: NextSegment,
  inFlight: SegmentRequest | undefined,
): number {
  const byIndex = period.startSeconds + index * segmentSeconds;
  // A part of a segment may have a request of its own.
  const isShort = inFlight && inFlight.segmentSeconds < segmentSeconds / 2;
  const isPart = isShort && Math.abs(startSeconds - byIndex) < segmentSeconds;
  return isAfterSeek || isPart ? byIndex : startSeconds;
}

/** The segment that the player will request next. */
function nextSegment(situation: Situation, last: SegmentRequest | undefined): NextSegment {
  const { period, playback, bufferedUntilSeconds, playableUntilSeconds } = situation;
  const { segmentSeconds } = playback;
  const isInPeriod = last?.period.id === period.id;
  // A track switch has discarded buffered media.
  const isReplaced = isInPeriod && bufferedUntilSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  const id = last?.representation.id;
  if (isInPeriod && !isReplaced) return { index: last.index + 1, startSeconds: last.endSeconds, id };
  // After a seek or a track switch, the segment at the end of the buffer; else the first of the period.
  const skippedSeconds = last && !isReplaced ? 0 : playableUntilSeconds - period.startSeconds;
  const index = Math.max(0, Math.floor(skippedSeconds / segmentSeconds));
  const startSeconds = period.startSeconds + skippedSeconds;
  return { index, startSeconds, isAfterSeek: true, id: isInPeriod ? id : undefined };
}
