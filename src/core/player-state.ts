/** The input of a controller: the player's situation and the session's history in one `PlayerState`. */

import type { InFlight, LiveState, PlayerState } from '../../abr/controller.ts';
import { bitrateWeights } from '../../abr/qoe.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { Situation } from './player-port.ts';
import { downloadsOf, type Session } from './session.ts';

/** A controller gets the sizes of at least this many segments, whatever its horizon. */
const UPCOMING_SEGMENTS = 10;

/**
 * Returns a copy that is not changed later. `inFlight` is the download to reconsider; undefined for a decision on the
 * next segment. A buffer that is not empty starts the session.
 */
export function playerState(life: LifeCycle, situation: Situation, inFlight: InFlight | undefined): PlayerState {
  const { sizes, options } = life;
  const session = life.session();
  const { period, ladder, playback } = situation;
  const { segmentSeconds } = playback;
  session.started ||= playback.bufferLevelSeconds > 0;
  const indexInPeriod = inFlight ? inFlight.segmentIndex - period.firstIndex : nextIndex(situation, session);
  const segmentsRemaining = Math.max(1, period.segmentCount - indexInPeriod) + period.segmentsAfter;
  const rows = Math.min(segmentsRemaining, Math.max(UPCOMING_SEGMENTS, options.horizon));
  const ladderBps = ladder.map(({ bitrateBps }) => bitrateBps);
  const clocks = life.clocks();
  return {
    ...clocks,
    ...playback,
    started: session.started,
    // Before the first picture, a paused element waits for data.
    isPaused: session.started && playback.isPaused,
    segmentIndex: period.firstIndex + indexInPeriod,
    segmentsRemaining,
    ladderBps,
    upcomingSizesBits: Array.from({ length: rows }, (_, k) =>
      ladder.map((representation) =>
        sizes.sizeBits({
          period,
          representation,
          index: indexInPeriod + k,
          segmentSeconds,
          indexedBits: situation.indexedBits(representation.id, indexInPeriod + k),
        }),
      ),
    ),
    previousBitrateBps: (inFlight === undefined ? session.last : session.beforeLast)?.representation.bitrateBps,
    downloads: [...downloadsOf(session)],
    weights: bitrateWeights(options.qoe, ladderBps),
    ...(situation.live && { live: liveState(situation, session, indexInPeriod, clocks.nowSeconds) }),
  };
}

function liveState(
  situation: Situation,
  { videoEdge, offRate }: Session,
  index: number,
  nowSeconds: number,
): LiveState {
  const { period, playback } = situation;
  const { segmentSeconds } = playback;
  const { nowSeconds: captured, firstChunkSeconds, isCaughtUp: _, ...live } = situation.live!;
  return {
    ...live,
    offRateShare: offRate?.share ?? 0,
    chunkSeconds: videoEdge.chunkSeconds ?? Math.min(segmentSeconds, firstChunkSeconds),
    firstChunkAtSeconds: nowSeconds + period.startSeconds + index * segmentSeconds + firstChunkSeconds - captured,
  };
}

/** Index in the period of the segment that the player will request next. */
function nextIndex(situation: Situation, { last }: Session): number {
  const { period, playback, bufferedUntilSeconds, playableUntilSeconds, live } = situation;
  const { segmentSeconds } = playback;
  const isInPeriod = last?.period.id === period.id;
  // A track switch has discarded buffered media.
  const isReplaced = isInPeriod && bufferedUntilSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  if (isInPeriod && !isReplaced) return last.index + 1;
  // The first segment of a period; after a seek or a track switch, the one at the end of the buffer.
  // A live stream is joined before the playhead is there.
  const joinedSeconds = live ? live.nowSeconds - live.latencySeconds : 0;
  const skippedSeconds = last && !isReplaced ? 0 : Math.max(playableUntilSeconds, joinedSeconds) - period.startSeconds;
  return Math.max(0, Math.floor(skippedSeconds / segmentSeconds));
}
