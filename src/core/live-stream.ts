/**
 * The live stream of a session: its chunks, what the encoder limited, and what a controller gets to know of it. Only in
 * entries for live streams.
 */

import type { LiveState } from '../../abr/controller.ts';
import { countRate, type OffRate } from '../../abr/off-rate.ts';
import { LiveEdge, LiveWaits } from '../../predictor/link/live-waits.ts';
import type { LiveMedia, Situation } from './player-port.ts';

export class LiveStream {
  /** Audio and video have encoders of their own. */
  readonly #videoEdge = new LiveEdge();
  readonly #audioEdge = new LiveEdge();
  /** Undefined before the first pace. */
  #offRate: OffRate | undefined;
  #isRequested = false;

  /** Media of the stream were requested: it is the one that plays. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Media are requested at this time of the session's clock; returns how they wait for the encoder. */
  requested(media: LiveMedia, isVideo: boolean, atSeconds: number): LiveWaits {
    const { startSeconds, segmentSeconds, nowSeconds, firstChunkSeconds } = media;
    const chunkSeconds = Math.min(segmentSeconds, firstChunkSeconds);
    const firstChunkAtSeconds = atSeconds + startSeconds + chunkSeconds - nowSeconds;
    this.#isRequested = true;
    const edge = isVideo ? this.#videoEdge : this.#audioEdge;
    return new LiveWaits(edge, { segmentSeconds, chunkSeconds, firstChunkAtSeconds }, atSeconds);
  }

  /** The stream plays at this rate now. */
  played(nowSeconds: number, playbackRate: number): void {
    this.#offRate = countRate(nowSeconds, playbackRate, this.#offRate);
  }

  /** At the live edge, the buffer ends before the segment that does not exist yet. */
  atEdge(situation: Situation): Situation {
    const { playback, live } = situation;
    if (!live) return situation;
    const untilEdge = live.latencySeconds - live.firstChunkSeconds + playback.segmentSeconds;
    return {
      ...situation,
      playback: { ...playback, bufferCapSeconds: Math.min(playback.bufferCapSeconds, untilEdge) },
    };
  }

  /** `index`: of the segment to decide on, in its period. Undefined on demand. */
  state({ period, playback, live }: Situation, index: number, nowSeconds: number): LiveState | undefined {
    if (!live) return undefined;
    const { segmentSeconds } = playback;
    const { nowSeconds: captured, firstChunkSeconds, isPaceable: _, ...rest } = live;
    return {
      ...rest,
      offRateShare: this.#offRate?.share ?? 0,
      chunkSeconds: this.#videoEdge.chunkSeconds ?? Math.min(segmentSeconds, firstChunkSeconds),
      firstChunkAtSeconds: nowSeconds + period.startSeconds + index * segmentSeconds + firstChunkSeconds - captured,
    };
  }
}
