/** The time of a live stream. */

import type { LiveTime } from '../../session/player-port.ts';
import type { ShakaPlayer } from './player.ts';

export class LiveStream {
  /** Shaka writes a warning at each call of `getManifest()`, so it is kept. */
  #manifest: ReturnType<ShakaPlayer['getManifest']> = null;

  constructor(private readonly player: ShakaPlayer) {}

  /** Shaka 4 plays a live stream whose end is known from its start, as on demand. */
  get isLive(): boolean {
    return this.player.isDynamic?.() ?? this.player.isLive();
  }

  get description() {
    return this.#manifest?.serviceDescription;
  }

  /** Undefined on demand. */
  time(): LiveTime | undefined {
    if (!this.isLive) return undefined;
    this.#manifest ??= this.player.getManifest();
    const timeline = this.#manifest?.presentationTimeline;
    if (!timeline) return undefined;
    const firstChunkSeconds = Math.max(0, timeline.getMaxSegmentDuration() - timeline.getAvailabilityTimeOffset());
    return { firstChunkSeconds, nowSeconds: timeline.getSegmentAvailabilityEnd() + firstChunkSeconds };
  }

  /** The source is another one. */
  forget(): void {
    this.#manifest = null;
  }
}
