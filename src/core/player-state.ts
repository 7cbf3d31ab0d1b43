/** The input of a controller: the player's situation and the session's history in one `PlayerState`. */

import type { InFlight, PlayerState } from '../../abr/controller.ts';
import { bitrateWeights } from '../../abr/qoe.ts';
import { lazily } from './lazily.ts';
import type { CommonOptions } from './options.ts';
import type { Situation } from './player-port.ts';
import type { SegmentSizes } from './segment-sizes.ts';
import type { SessionRecord } from './session.ts';
import type { Clocks } from './session-clock.ts';

/** A controller gets the sizes of at least this many segments, whatever its horizon. */
const UPCOMING_SEGMENTS = 10;

export type StateOptions = Required<Pick<CommonOptions, 'qoe' | 'horizon'>>;

interface StateParts {
  situation: Situation;
  /** The download to reconsider; undefined for a decision on the next segment. */
  inFlight: InFlight | undefined;
  record: SessionRecord;
  clocks: Clocks;
  sizes: SegmentSizes;
  options: StateOptions;
}

/**
 * Returns a state that is not changed later. What a reconsideration rarely needs is computed when it is first read; a copy
 * has all.
 */
export function playerState({ situation, inFlight, record, clocks, sizes, options }: StateParts): PlayerState {
  const { started, last, beforeLastBps } = record;
  const { period, ladder, playback } = situation;
  const { segmentSeconds, bufferLevelSeconds, playbackRate, setupSeconds } = playback;
  const indexInPeriod = inFlight ? inFlight.segmentIndex - period.firstIndex : nextIndex(situation, record);
  const segmentsRemaining = Math.max(1, period.segmentCount - indexInPeriod) + period.segmentsAfter;
  const rows = Math.min(segmentsRemaining, Math.max(UPCOMING_SEGMENTS, options.horizon));
  const live = record.live?.state(situation, indexInPeriod, clocks.nowSeconds);
  const ladderBps = ladder.map(({ bitrateBps }) => bitrateBps);
  // Written out, because copying objects into one another takes most of the time.
  const state = {
    nowSeconds: clocks.nowSeconds,
    utcMs: clocks.utcMs,
    utcUncertaintySeconds: clocks.utcUncertaintySeconds,
    segmentSeconds,
    bufferLevelSeconds,
    playbackRate,
    started,
    // Before the first picture, a paused element waits for data.
    isPaused: started && playback.isPaused,
    segmentIndex: period.firstIndex + indexInPeriod,
    segmentsRemaining,
    ladderBps,
    previousBitrateBps: inFlight ? beforeLastBps : last?.representation.bitrateBps,
    downloads: record.downloads,
    weights: bitrateWeights(options.qoe, ladderBps),
  };
  Object.assign(state, setupSeconds && { setupSeconds }, live && { live });
  const sizesBits = () =>
    Array.from({ length: rows }, (_, k) =>
      ladder.map((representation) =>
        sizes.sizeBits({
          period,
          representation,
          index: indexInPeriod + k,
          segmentSeconds,
          indexedBits: situation.indexedBits(representation.id, indexInPeriod + k),
        }),
      ),
    );
  const capSeconds = () => record.live?.capSeconds(situation) ?? playback.bufferCapSeconds;
  return lazily(lazily(state, 'upcomingSizesBits', sizesBits), 'bufferCapSeconds', capSeconds);
}

/** Index in the period of the segment that the player will request next. */
function nextIndex(situation: Situation, { last, live }: SessionRecord): number {
  const { period, playback, bufferedUntilSeconds } = situation;
  const { segmentSeconds } = playback;
  const isInPeriod = last?.period.id === period.id;
  // A track switch has discarded buffered media.
  const isReplaced = isInPeriod && bufferedUntilSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  if (isInPeriod && !isReplaced) return last.index + 1;
  // The first segment of a period; after a seek or a track switch, the one at the end of the buffer.
  if (last && !isReplaced) return 0;
  const untilSeconds = live?.playableUntilSeconds(situation) ?? situation.playableUntilSeconds;
  return Math.max(0, Math.floor((untilSeconds - period.startSeconds) / segmentSeconds));
}
