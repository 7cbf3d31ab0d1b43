/** The history of a live session's playback from the page's record: where the playhead was, at what rate, and stalls. */

import type { PlaybackPiece } from '../../evaluation/figures/live-metrics.ts';
import type { LiveStream } from '../../scenarios.ts';
import type { BrowserSessionRecord } from './session-record.ts';

interface PlayedLive extends Pick<BrowserSessionRecord, 'stalls'> {
  live: Pick<NonNullable<BrowserSessionRecord['live']>, 'positions' | 'endSeconds'>;
}

/** Covers the first picture to the end. A session without pictures is one stall from the join to the end. */
export function playbackHistory(
  { stalls, live: { positions, endSeconds } }: PlayedLive,
  { timeShiftSeconds, targetLatencySeconds }: LiveStream,
): PlaybackPiece[] {
  if (positions.length === 0) {
    return [{ seconds: endSeconds, latencySeconds: targetLatencySeconds, rate: 1, isStalled: true }];
  }
  return positions.flatMap(({ atSeconds, mediaSeconds, rate }, i) => {
    const untilSeconds = positions[i + 1]?.atSeconds ?? endSeconds;
    const stall = stalls.find(({ startSeconds }) => startSeconds >= atSeconds && startSeconds < untilSeconds);
    const seconds = (stall?.startSeconds ?? untilSeconds) - atSeconds;
    // Media second 0 was captured `timeShiftSeconds` before the join.
    const latencySeconds = atSeconds + timeShiftSeconds - mediaSeconds;
    const pieces: PlaybackPiece[] = [{ seconds, latencySeconds, rate, isStalled: false }];
    if (stall !== undefined) {
      const { startSeconds, endSeconds: stallEnd, mediaSeconds: frozenAt } = stall;
      const whenStalled = startSeconds + timeShiftSeconds - frozenAt;
      pieces.push({ seconds: stallEnd - startSeconds, latencySeconds: whenStalled, rate: 1, isStalled: true });
    }
    return pieces;
  });
}
