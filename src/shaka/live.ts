/** Live streams in Shaka: their time, and the playback rate. */

import type { LiveOptions } from '../../session/page/option-types.ts';
import type { LivePosition, LiveTime } from '../../session/player-port.ts';
import { ElementRate } from '../element-rate.ts';
import type { SegmentReference, ShakaPlayer } from './player.ts';

const HLS = 'HLS';

export class LiveStream {
  /** Shaka writes a warning at each call of `getManifest()`, so it is kept. */
  private _manifest: ReturnType<ShakaPlayer['getManifest']> = null;

  /** Duration of an HLS stream's parts, read from a playlist because Shaka does not tell it. 0: no parts. Undefined: no playlist yet. */
  private _partSeconds: number | undefined;

  /** The media of an HLS stream in parts end so much later than Shaka says. */
  private _laterSeconds = 0;

  constructor(private readonly _player: ShakaPlayer) {}

  /** Shaka 4 plays a live stream whose end is known from its start, as on demand. */
  get isLive(): boolean {
    return this._player.isDynamic ? this._player.isDynamic() : this._player.isLive();
  }

  get description() {
    return this._manifest?.serviceDescription;
  }

  /** The time of the live stream; undefined on demand. */
  time(): LiveTime | undefined {
    if (!this.isLive) return undefined;
    this._manifest ||= this._player.getManifest();
    if (!this._manifest) return undefined;
    const { type, presentationTimeline: timeline } = this._manifest;
    const segmentSeconds = timeline.getMaxSegmentDuration();
    const endSeconds = this._endSeconds();
    if (type === HLS) {
      const partSeconds = this._partSeconds || 0;
      // A part exists when it is listed, and so does a segment without parts. The part that is hinted at counts as listed.
      return { firstChunkSeconds: partSeconds || segmentSeconds, nowSeconds: endSeconds - partSeconds };
    }
    const firstChunkSeconds = Math.max(0, segmentSeconds - timeline.getAvailabilityTimeOffset());
    return { firstChunkSeconds, nowSeconds: endSeconds + firstChunkSeconds };
  }

  /** The latency at which Shaka joins. While the stream is shorter, it joins at its start. */
  joinedSeconds(nowSeconds: number): number {
    const { presentationTimeline: timeline } = this._manifest!;
    return nowSeconds - this._endSeconds() + timeline.getDelay();
  }

  /** Duration of a whole segment, even while only some of its parts exist. A part with a request of its own has its own duration. */
  wholeSeconds(reference: SegmentReference): number {
    const isGrowing = this._partSeconds && reference.hasByterangeOptimization?.();
    return Math.max(reference.getEndTime() - reference.getStartTime(), isGrowing ? this.longestSeconds : 0);
  }

  get longestSeconds(): number {
    return this._manifest ? this._manifest.presentationTimeline.getMaxSegmentDuration() : 0;
  }

  /** Duration of the parts of HLS that Shaka requests one by one, and not a segment at once; 0 for other streams. */
  partSeconds(segment: SegmentReference): number {
    return segment.hasByterangeOptimization?.() ? 0 : this._partSeconds || 0;
  }

  /** A media playlist of HLS came. */
  playlistLoaded(text: () => string): void {
    if (this._partSeconds !== undefined) return;
    const isLowLatency = this._player.getConfiguration().streaming.lowLatencyMode;
    this._partSeconds = Number((isLowLatency && /^#EXT-X-PART-INF:.*PART-TARGET=([\d.]+)/m.exec(text())?.[1]) || 0);
  }

  /**
   * Where the media end. If a stream in parts has just begun, Shaka says too early: its first playlist is old once the first
   * segment has ended, and segments become longer. Shaka's end goes on with the clock, so the longest list was newest.
   */
  private _endSeconds(): number {
    const { presentationTimeline: timeline } = this._manifest!;
    const endSeconds = timeline.getSegmentAvailabilityEnd();
    if (this._partSeconds) {
      this._laterSeconds = Math.max(this._laterSeconds, timeline.getMaxSegmentEndTime()! - endSeconds);
    }
    return endSeconds + this._laterSeconds;
  }
}

/* Shaka's synchronisation at the live edge: how it may play, and the plugin's rate in its place. */

type LiveSync = ReturnType<ShakaPlayer['getConfiguration']>['streaming']['liveSync'];

/** `liveSync` in place of the page's and the stream's: without rates, Shaka only returns to the element's default rate. */
const UNSYNCHRONISED = { enabled: true, panicMode: false, minPlaybackRate: 0, maxPlaybackRate: 0 };

export class CatchUp extends ElementRate {
  /** `liveSync` of the page, while the rate is the plugin's. */
  private _pageSync: LiveSync | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly _player: ShakaPlayer,
    private readonly _source: () => { readonly live: LiveStream; element: HTMLMediaElement | undefined },
  ) {
    super(options);
  }

  protected element(): HTMLMediaElement | undefined {
    return this._source().element;
  }

  protected nowSeconds(): number | undefined {
    return this._source().live.time()?.nowSeconds;
  }

  protected turnOff(rate: number): void {
    if (!this._pageSync) {
      this._pageSync = this._liveSync();
      this._player.configure({ streaming: { liveSync: UNSYNCHRONISED } });
    }
    this._setDefault(rate);
  }

  protected restore(): void {
    this._player.configure({ streaming: { liveSync: this._liveSync() } });
    this._pageSync = undefined;
    this._setDefault(1);
  }

  /** The rate is the plugin's where Shaka would synchronise, and where an option sets its bounds. */
  position(): LivePosition | undefined {
    const { live, element } = this._source();
    const time = live.time();
    if (!time) return undefined;
    const { options } = this;
    const liveSync = this._liveSync();
    const { description } = live;
    const joinedSeconds = live.joinedSeconds(time.nowSeconds);
    const playersTarget = liveSync.enabled
      ? joinedSeconds + liveSync.targetLatency
      : (description?.targetLatency ?? joinedSeconds);
    const { targetLatencySeconds: targetSeconds = playersTarget, minPlaybackRate, maxPlaybackRate } = options.live;
    const latencySeconds = time.nowSeconds - (element?.currentTime || 0);
    return {
      ...time,
      // Playback has not begun at 0 s, except in a stream that has just begun.
      latencySeconds: element?.currentTime ? latencySeconds : Math.min(latencySeconds, targetSeconds),
      targetLatencySeconds: targetSeconds,
      ...this.within({
        isPaceable: Boolean(
          liveSync.enabled || liveSync.panicMode || description || minPlaybackRate || maxPlaybackRate,
        ),
        playbackRates: {
          min: description?.minPlaybackRate || liveSync.minPlaybackRate,
          max: description?.maxPlaybackRate || liveSync.maxPlaybackRate,
        },
        maxLatencySeconds: Math.max(description?.maxLatency ?? Number.POSITIVE_INFINITY, targetSeconds),
        targetSeconds,
      }),
    };
  }

  /** The page's settings. The page may change the target while the plugin sets the rate. */
  private _liveSync(): LiveSync {
    const { liveSync } = this._player.getConfiguration().streaming;
    const { targetLatency } = liveSync;
    return { ...liveSync, ...this._pageSync, targetLatency };
  }

  /** The rate that Shaka sets after a stall and in each second of playback. */
  private _setDefault(rate: number): void {
    const media = this.element();
    if (media) media.defaultPlaybackRate = rate;
  }
}
