/** The time of a live stream. */

import type { LiveTime } from '../../session/player-port.ts';
import type { SegmentReference, ShakaPlayer } from './player.ts';

const HLS = 'HLS';

export class LiveStream {
  /** Shaka writes a warning at each call of `getManifest()`, so it is kept. */
  #manifest: ReturnType<ShakaPlayer['getManifest']> = null;

  /** Duration of an HLS stream's parts, read from a playlist because Shaka does not tell it. 0: no parts. Undefined: no playlist yet. */
  #partSeconds: number | undefined;

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
    if (!this.#manifest) return undefined;
    const { type, presentationTimeline: timeline } = this.#manifest;
    const segmentSeconds = timeline.getMaxSegmentDuration();
    const endSeconds = timeline.getSegmentAvailabilityEnd();
    if (type === HLS) {
      const partSeconds = this.#partSeconds ?? 0;
      // A part exists when it is listed, and so does a segment without parts. The part that is hinted at counts as listed.
      return { firstChunkSeconds: partSeconds || segmentSeconds, nowSeconds: endSeconds - partSeconds };
    }
    const firstChunkSeconds = Math.max(0, segmentSeconds - timeline.getAvailabilityTimeOffset());
    return { firstChunkSeconds, nowSeconds: endSeconds + firstChunkSeconds };
  }

  /** Duration of a whole segment, even while only some of its parts exist. Of a part that has a request of its own, the part's. */
  wholeSeconds(reference: SegmentReference): number {
    const isGrowing = this.#partSeconds && reference.hasByterangeOptimization?.();
    return Math.max(reference.getEndTime() - reference.getStartTime(), isGrowing ? this.longestSeconds : 0);
  }

  get longestSeconds(): number {
    return this.#manifest?.presentationTimeline.getMaxSegmentDuration() ?? 0;
  }

  /** Duration of the parts of HLS that Shaka requests one by one, and not a segment at once; 0 for other streams. */
  partSeconds(segment: SegmentReference): number {
    return segment.hasByterangeOptimization?.() ? 0 : (this.#partSeconds ?? 0);
  }

  /** A media playlist of HLS came. */
  playlistLoaded(text: () => string): void {
    if (this.#partSeconds !== undefined) return;
    const isLowLatency = this.player.getConfiguration().streaming.lowLatencyMode;
    this.#partSeconds = Number((isLowLatency && /^#EXT-X-PART-INF:.*PART-TARGET=([\d.]+)/m.exec(text())?.[1]) || 0);
  }

  /** The source is another one. */
  forget(): void {
    this.#manifest = null;
    this.#partSeconds = undefined;
  }
}
