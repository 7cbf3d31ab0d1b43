/** The live stream of a session: its chunks, the waits for its encoder, and its part of a controller's state. */

import type { LiveState } from '../../abr/controller.ts';
import { countRate, type OffRate } from '../../abr/qoe/off-rate.ts';
import { LiveEdge, LiveWaits } from '../../predictor/link/live-waits.ts';
import type { LiveMedia, Situation } from '../player-port.ts';

/** Catch-up at the live edge changes the rate by less all the time; a viewer's choice changes it by more. */
const SAME_RATE = 0.1;
/** The buffer falls by a segment while a live stream's next one does not exist. */
const SAME_BUFFER_SEGMENTS = 1.5;

export class LiveStream {
  /** Audio and video have encoders of their own. */
  private readonly _videoEdge = new LiveEdge();
  private readonly _audioEdge = new LiveEdge();
  /** Undefined before the first pace. */
  private _offRate: OffRate | undefined;
  /** Media of the stream were requested, so it is the stream that plays. */
  isRequested = false;

  /** Media per chunk of video. */
  chunkSeconds({ playback, live }: Situation): number {
    return this._videoEdge.chunkSeconds ?? Math.min(playback.segmentSeconds, live!.firstChunkSeconds);
  }

  /** Media are requested at this time of the session's clock; returns how they wait for the encoder. */
  requested(media: LiveMedia, isVideo: boolean, atSeconds: number): LiveWaits {
    const { startSeconds, segmentSeconds, nowSeconds, firstChunkSeconds } = media;
    const chunkSeconds = Math.min(segmentSeconds, firstChunkSeconds);
    const firstChunkAtSeconds = atSeconds + startSeconds + chunkSeconds - nowSeconds;
    this.isRequested = true;
    const edge = isVideo ? this._videoEdge : this._audioEdge;
    return new LiveWaits(edge, { segmentSeconds, chunkSeconds, firstChunkAtSeconds }, atSeconds);
  }

  /** The stream plays at this rate now. */
  played(nowSeconds: number, playbackRate: number): void {
    this._offRate = countRate(nowSeconds, playbackRate, this._offRate);
  }

  /** At the live edge, the buffer ends before the segment that does not exist yet. */
  atEdge(situation: Situation): Situation {
    const { playback, playableUntilSeconds, live } = situation;
    if (!live) return situation;
    const untilEdge = live.latencySeconds - live.firstChunkSeconds + playback.segmentSeconds;
    return {
      ...situation,
      playback: { ...playback, bufferCapSeconds: Math.min(playback.bufferCapSeconds, untilEdge) },
      // The stream is joined before the playhead is there.
      playableUntilSeconds: Math.max(playableUntilSeconds, live.nowSeconds - live.latencySeconds),
    };
  }

  /** Whether nothing has changed that a choice depends on, but time and what follows from it; on demand too. */
  isSame(before: Situation, now: Situation): boolean {
    const { playback, ladder } = now;
    const isNear = (key: 'bufferLevelSeconds' | 'bufferCapSeconds') =>
      Math.abs(before.playback[key] - playback[key]) < SAME_BUFFER_SEGMENTS * playback.segmentSeconds;
    return (
      before.period.id === now.period.id &&
      before.playback.isPaused === playback.isPaused &&
      Math.abs(before.playback.playbackRate - playback.playbackRate) < SAME_RATE &&
      isNear('bufferLevelSeconds') &&
      isNear('bufferCapSeconds') &&
      before.ladder.length === ladder.length &&
      ladder.every(({ id }, i) => id === before.ladder[i]!.id)
    );
  }

  /** `startSeconds`: of the segment to decide on, in the presentation. Undefined on demand. */
  state(situation: Situation, startSeconds: number, nowSeconds: number): LiveState | undefined {
    const { live } = situation;
    if (!live) return undefined;
    const { nowSeconds: captured, firstChunkSeconds, isPaceable: _, ...rest } = live;
    return {
      ...rest,
      offRateShare: this._offRate?.share || 0,
      chunkSeconds: this.chunkSeconds(situation),
      firstChunkAtSeconds: nowSeconds + startSeconds + firstChunkSeconds - captured,
    };
  }
}
