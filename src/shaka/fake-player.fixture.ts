/** A stand-in for Shaka Player with its own manager, and the plugin attached to it. */

import { wait } from '../../session/scripted.fixture.ts';
import {
  heard,
  LADDER_BPS,
  merge,
  type OptionsWith,
  SEGMENT_SECONDS,
  SEGMENTS,
  type Sent,
  StandIn,
} from '../../session/stand-in.fixture.ts';
import { createLeoAbrFactory, type LeoAbrOptions } from '../shaka.ts';
import {
  MEDIA_PLAYLIST,
  MEDIA_SEGMENT,
  OPERATION_ABORTED,
  type ResponseFilter,
  type ShakaPlayer,
  type ShakaRequest,
  type ShakaStream,
  type SwitchCallback,
  type Variant,
} from './player.ts';

type RegisteredFilter = (type: number, request: ShakaRequest, context: object) => void;
/** Chooses the highest variant that its estimate carries and the element's height allows. */
class OwnManager {
  variants: Variant[] = [];
  maxHeight = Number.POSITIVE_INFINITY;
  switchTo: SwitchCallback | undefined;
  readonly calls: string[] = [];

  init(switchTo: SwitchCallback, ...more: unknown[]) {
    this.switchTo = switchTo;
    this.calls.push(`init ${more.length}`);
  }
  stop = () => void this.calls.push('stop');
  release = () => void this.calls.push('release');
  setVariants(variants: Variant[], ...more: unknown[]) {
    this.variants = variants;
    this.calls.push(`setVariants ${more.length}`);
    return true;
  }
  chooseVariant(_isFast?: boolean): Variant {
    const fits = ({ bandwidth, video }: Variant) =>
      bandwidth <= this.getBandwidthEstimate() && (video?.height ?? 0) <= this.maxHeight;
    const sorted = [...this.variants].sort((a, b) => a.bandwidth - b.bandwidth);
    return sorted.filter(fits).at(-1) ?? sorted[0]!;
  }
  enable = () => void this.calls.push('enable');
  disable = () => void this.calls.push('disable');
  configure(_: object) {}
  segmentDownloaded(_milliseconds: number, bytes: number, ..._more: unknown[]) {
    this.calls.push(`downloaded ${bytes}`);
  }
  trySuggestStreams() {}
  getBandwidthEstimate = () => 1.5e6;
  setMediaElement(_: object) {}
  /** One that the adapter does not know. */
  ofTomorrow = () => void this.calls.push('ofTomorrow');
}

export function videoStream(id: number, bandwidth: number, height: number): ShakaStream {
  const width = (height * 16) / 9;
  return { id, originalId: `v${id}`, type: 'video', bandwidth, width, height, segmentIndex: null };
}

export function segmentAt(index: number, startByte = 0, endByte: number | null = null) {
  return {
    getStartTime: () => index * SEGMENT_SECONDS,
    getEndTime: () => (index + 1) * SEGMENT_SECONDS,
    getStartByte: () => startByte,
    getEndByte: () => endByte,
  };
}

export class FakePlayer extends StandIn {
  readonly own: OwnManager[] = [];
  readonly config = {
    abrFactory: (): OwnManager => {
      this.own.push(new OwnManager());
      return this.own.at(-1)!;
    },
    abr: {
      ...{ enabled: true, restrictToElementSize: false, restrictToScreenSize: false },
      ...{ bandwidthUpgradeTarget: 0.85, bandwidthDowngradeTarget: 0.95 },
      ...{ switchInterval: 8, clearBufferSwitch: false, safeMarginSwitch: 0 },
      restrictions: { minBandwidth: 0, maxBandwidth: 1e9 },
    },
    cmcd: { enabled: false },
    streaming: {
      ...{ bufferingGoal: 10, rebufferingGoal: 0, segmentPrefetchLimit: 1, lowLatencyMode: true, maxDisabledTime: 30 },
      liveSync: {
        ...{ enabled: false, targetLatency: 0.5, targetLatencyTolerance: 0.5, panicMode: false },
        ...{ minPlaybackRate: 0.95, maxPlaybackRate: 1.1 },
      },
    },
  };
  readonly audio = ['en', 'fr'].map((id, i): ShakaStream => {
    return { id: 10 + i, originalId: id, type: 'audio', segmentIndex: null };
  });
  /** 1, 2 and 4 Mbit/s with English audio, then with French. */
  variants = this.audio.flatMap((audio, language) =>
    LADDER_BPS.map((bps, i): Variant => {
      const video = videoStream(i, bps, 360 * (i + 1));
      return { id: 10 * language + i, bandwidth: bps + 1e5, audio, video };
    }),
  );
  /** Undefined until a source is loaded. */
  active: Variant | undefined;
  readonly switches: Variant[] = [];
  /** Whether each of them clears the buffer, and what it keeps. */
  readonly cleared: unknown[] = [];
  buffered: { start: number; end: number }[] = [];
  private _isAppending = false;
  /** Shaka requests no more: it has cleared the buffer before it set its timer. */
  isStopped = false;
  isLiveStream = false;
  manifest: object | null = null;
  end = SEGMENTS * SEGMENT_SECONDS;
  readonly filters = new Set<RegisteredFilter>();
  readonly responseFilters = new Set<ResponseFilter>();
  manager: OwnManager | undefined;
  /** Shaka's own for the parts of a body, if any. */
  streamDataCallback: NonNullable<ShakaRequest['streamDataCallback']> | null = null;
  /** A media playlist, which has come before the first choice. */
  playlist: Uint8Array | undefined;

  /** A copy, whose function stays the same. */
  getConfiguration() {
    const { abrFactory, ...config } = this.config;
    return { abrFactory, ...structuredClone(config) };
  }
  configure(changes: object) {
    merge(changes, this.config);
    return true;
  }
  getNetworkingEngine() {
    return {
      registerRequestFilter: (filter: RegisteredFilter) => void this.filters.add(filter),
      unregisterRequestFilter: (filter: RegisteredFilter) => void this.filters.delete(filter),
      registerResponseFilter: (filter: ResponseFilter) => void this.responseFilters.add(filter),
      unregisterResponseFilter: (filter: ResponseFilter) => void this.responseFilters.delete(filter),
    };
  }
  getMediaElement = () => this.media;
  getBufferedInfo = () => ({ video: this.buffered, total: this.buffered });
  getVariantTracks = () => this.variants.map(({ id }) => ({ id, active: id === this.active?.id }));
  getStats = () => ({ maxSegmentDuration: SEGMENT_SECONDS });
  getAssetUri = () => 'https://media.example/stream.mpd';
  getManifest = () => this.manifest;
  getPlaybackRate = () => 1;
  getLoadMode = () => 2;
  isLive = () => this.isLiveStream;
  seekRange = () => ({ start: 0, end: this.end });

  load(variants = this.variants.slice(0, 3), prefetched?: Variant) {
    if (!this.manager) {
      this.manager = this.config.abrFactory();
      this.manager.configure(this.config.abr);
    }
    const { manager, playlist } = this;
    if (playlist) for (const filter of this.responseFilters) filter(0, { data: playlist }, { type: MEDIA_PLAYLIST });
    manager.init(
      (variant, ...how) => {
        this.switches.push(variant);
        this.cleared.push(how);
        this.isStopped ||= this._isAppending && Boolean(how[0]);
        this.active = variant;
      },
      () => {},
    );
    manager.setMediaElement(this.media);
    manager.setVariants(variants, false);
    const chosen = manager.chooseVariant(true);
    this.active = prefetched ?? chosen;
    if (this.config.abr.enabled) manager.enable();
  }
  /** Shaka lets a manager of its own choose the first variant: for HLS, for streams with one variant, and at `preload()`. */
  preload(variants = this.variants.slice(0, 3)) {
    const manager = this.config.abrFactory();
    manager.configure(this.config.abr);
    manager.setVariants(variants, false);
    const prefetched = manager.chooseVariant(true);
    return {
      prefetched,
      load: () => {
        if (this.manager) this.unload();
        this.load(variants, prefetched);
        manager.release();
      },
      destroy: () => manager.release(),
    };
  }
  unload() {
    this.emit('unloading');
    this.manager!.stop();
    this.active = undefined;
    this.buffered = [];
    this.media.currentTime = 0;
  }
  /** Shaka takes its manager away without stopping it; the next source gets a new one. */
  unloadAndSavePreload() {
    this.emit('unloading');
    this.manager = undefined;
  }
  destroy() {
    if (!this.manager) return;
    this.unload();
    this.manager!.release();
    this.manager = undefined;
  }
  /** Requests a video segment in the active variant, or in another one. */
  send(index: number, representation?: number, type = MEDIA_SEGMENT) {
    if (representation !== undefined) this.active = this.variants[representation];
    const sentMs = performance.now();
    const { streamDataCallback } = this;
    const request: ShakaRequest = { uris: [`${this.server}/${index}.m4s`], headers: {}, streamDataCallback };
    if (this.config.cmcd.enabled) request.uris[0] += '?CMCD=d%3D4000';
    const context = { type, stream: this.active!.video!, segment: segmentAt(index) };
    /** Shaka 5 calls its filters before the pause between attempts, Shaka 4 only at the first attempt. */
    const filtered = () => {
      for (const filter of this.filters) filter(1, request, context);
    };
    const attempted = () => {
      request.requestStartTime = Date.now();
    };
    filtered();
    attempted();
    let bytes = 0;
    return {
      ...{ request, context, filtered, attempted },
      responded: (bits: number, more = {}) =>
        this.emit('downloadheadersreceived', { request, headers: { 'content-length': `${bits / 8}`, ...more } }),
      /** Bytes that Shaka reads, before its own report of them. */
      read: (bytes: number | Uint8Array) => request.streamDataCallback!(new Uint8Array(bytes as number)),
      arrived: (bits: number) => {
        this.manager!.segmentDownloaded(50, bits / 8 - bytes, true, request, context);
        bytes = bits / 8;
      },
      completed: (bits: number, timeMs = performance.now() - sentMs) =>
        this.emit('downloadcompleted', { request, response: { data: { byteLength: bits / 8 }, timeMs } }),
      failed: (code = 1002, more = {}) => this.emit('downloadfailed', { request, error: { code }, ...more }),
      aborted: () => this.emit('downloadfailed', { request, error: { code: OPERATION_ABORTED } }),
    };
  }
  ask(): number {
    this.manager!.trySuggestStreams();
    return this.variants.indexOf(this.active!);
  }
  abandon(sent: Sent): number {
    if (this.manager!.getBandwidthEstimate() >= 0) throw new Error('Shaka would go on with the request');
    sent.aborted();
    return this.variants.indexOf(this.active!);
  }
  nextSource(): void {
    this.unload();
    this.load();
  }
  setAdaptive(isAdaptive: boolean): void {
    this.config.abr.enabled = isAdaptive;
    this.manager!.configure(this.config.abr);
    if (isAdaptive) this.manager!.enable();
    else this.manager!.disable();
  }
  get bufferLevelSeconds(): number {
    return Math.max(0, ...this.buffered.map(({ end }) => end - this.media.currentTime));
  }
  set bufferLevelSeconds(seconds: number) {
    const { currentTime: start } = this.media;
    this.buffered = seconds > 0 ? [{ start, end: start + seconds }] : [];
  }
  override appended(index: number): void {
    const end = (index + 1) * SEGMENT_SECONDS;
    this.buffered = [{ start: 0, end }];
    this._isAppending = true;
    this.emit('segmentappended', { contentType: 'video', end });
    this._isAppending = false;
  }
  get left(): number {
    return this.filters.size + this.listenerCount;
  }
}

export function attached<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C> = {},
  player = new FakePlayer(),
  isConfigured = true,
) {
  const factory = createLeoAbrFactory(player as unknown as ShakaPlayer, { logger: null, ...options });
  if (isConfigured) player.configure({ abrFactory: factory });
  return { ...heard(factory.handle), controller: options.controller as C, player, factory };
}

/** Its clock is at 100 s; segments of 4 s, whose first chunks exist after 1 s. */
export function livePlayer(serviceDescription: object | null = { targetLatency: 3, minPlaybackRate: 0.9 }): FakePlayer {
  const player = new FakePlayer();
  player.isLiveStream = true;
  player.manifest = {
    type: 'DASH',
    presentationTimeline: {
      getSegmentAvailabilityEnd: () => 99,
      getDelay: () => 1,
      getAvailabilityTimeOffset: () => 3,
      getMaxSegmentDuration: () => 4,
      getMaxSegmentEndTime: () => 99,
    },
    serviceDescription,
  };
  player.end = 98;
  return player;
}

/** A live stream plays a second behind its target; the next segment is requested. */
export function playLive<C extends LeoAbrOptions['controller']>(options: OptionsWith<C>, player = livePlayer()) {
  const seen = attached(options, player);
  player.load();
  player.media.currentTime = 96;
  player.buffered = [{ start: 90, end: 98 }];
  player.plays();
  player.send(24);
  wait(0.1);
  const { liveSync } = player.config.streaming;
  const catchUp = () => [liveSync.enabled, liveSync.minPlaybackRate, liveSync.maxPlaybackRate];
  return { ...seen, catchUp, edge: () => 100 };
}
