/** A stand-in for Shaka Player with its own manager, and the plugin attached to it. */

import type { DecisionEvent, FaultEvent } from '../core/events.ts';
import { wait } from '../core/manual-clock.fixture.ts';
import { createLeoAbrFactory, type LeoAbrOptions } from '../shaka.ts';
import { MEDIA_SEGMENT, type ShakaPlayer } from './player.ts';

/** Of Shaka's own types, what the plugin uses. */
interface SegmentIndex {
  find(seconds: number): number | null;
  get(position: number): ReturnType<typeof segmentAt> | null;
}
interface Stream {
  id: number;
  originalId: string | null;
  type: string;
  bandwidth?: number;
  width?: number;
  height?: number;
  segmentIndex: SegmentIndex | null;
}
interface Variant {
  id: number;
  bandwidth: number;
  audio: Stream | null;
  video: Stream | null;
}
export interface Request {
  uris: string[];
  headers: object;
  streamDataCallback?: (part: ArrayBufferView) => Promise<unknown>;
}
type RequestFilter = (type: number, request: Request, context: object) => void;
type SwitchCallback = (variant: Variant) => void;

const SEGMENTS = 10;
const SEGMENT_SECONDS = 4;

/** Chooses the highest variant that its estimate carries and the element's height allows. */
export class OwnManager {
  variants: Variant[] = [];
  maxHeight = Number.POSITIVE_INFINITY;
  switchTo: SwitchCallback | undefined;
  readonly calls: string[] = [];

  init(switchTo: SwitchCallback, ...more: unknown[]) {
    this.switchTo = switchTo;
    this.calls.push(`init ${more.length}`);
  }
  stop() {
    this.calls.push('stop');
  }
  release() {
    this.calls.push('release');
  }
  setVariants(variants: Variant[], ...more: unknown[]) {
    this.variants = variants;
    this.calls.push(`setVariants ${more.length}`);
    return true;
  }
  chooseVariant(_isFast?: boolean): Variant {
    const fits = ({ bandwidth, video }: Variant) =>
      bandwidth <= this.getBandwidthEstimate() && (video?.height ?? 0) <= this.maxHeight;
    return this.variants.filter(fits).at(-1) ?? this.variants[0]!;
  }
  enable() {
    this.calls.push('enable');
  }
  segmentDownloaded(_milliseconds: number, bytes: number, ..._more: unknown[]) {
    this.calls.push(`downloaded ${bytes}`);
  }
  trySuggestStreams() {}
  getBandwidthEstimate() {
    return 1.5e6;
  }
  setMediaElement(_: object) {}
  /** One that the adapter does not know. */
  ofTomorrow() {
    this.calls.push('ofTomorrow');
  }
}

export function videoStream(id: number, bandwidth: number, height: number): Stream {
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

export class FakePlayer {
  readonly own: OwnManager[] = [];
  readonly element = Object.assign(new EventTarget(), {
    currentTime: 0,
    paused: false,
    playbackRate: 1,
    defaultPlaybackRate: 1,
  });
  readonly config = {
    abrFactory: (): OwnManager => {
      this.own.push(new OwnManager());
      return this.own.at(-1)!;
    },
    abr: {
      enabled: true,
      restrictions: {
        ...{ minWidth: 0, maxWidth: 1e9, minHeight: 0, maxHeight: 1e9, minPixels: 0, maxPixels: 1e9 },
        ...{ minFrameRate: 0, maxFrameRate: 1e9, minBandwidth: 0, maxBandwidth: 1e9 },
      },
    },
    cmcd: { enabled: false },
    streaming: {
      ...{ bufferingGoal: 10, rebufferingGoal: 0, segmentPrefetchLimit: 1 },
      liveSync: {
        ...{ enabled: false, targetLatency: 0.5, targetLatencyTolerance: 0.5, panicMode: false },
        ...{ minPlaybackRate: 0.95, maxPlaybackRate: 1.1 },
      },
    },
  };
  readonly audio = ['en', 'fr'].map((id, i): Stream => {
    return { id: 10 + i, originalId: id, type: 'audio', segmentIndex: null };
  });
  /** 1, 2 and 4 Mbit/s with English audio, then with French. */
  variants = this.audio.flatMap((audio, language) =>
    [1e6, 2e6, 4e6].map((bps, i): Variant => {
      const video = videoStream(i, bps, 360 * (i + 1));
      return { id: 10 * language + i, bandwidth: bps + 1e5, audio, video };
    }),
  );
  /** Undefined until a source is loaded. */
  active: Variant | undefined;
  readonly switches: Variant[] = [];
  buffered: { start: number; end: number }[] = [];
  isLiveStream = false;
  manifest: object | null = null;
  end = SEGMENTS * SEGMENT_SECONDS;
  readonly filters = new Set<RequestFilter>();
  readonly listeners = new Map<string, Set<(event: unknown) => void>>();
  manager: OwnManager | undefined;

  getConfiguration() {
    return structuredCloneOf(this.config);
  }
  configure({
    streaming = {},
    cmcd,
    abrFactory,
  }: {
    streaming?: Record<string, unknown>;
    cmcd?: object;
    abrFactory?: () => OwnManager;
  }) {
    const { liveSync = {}, ...more } = streaming as { liveSync?: object };
    Object.assign(this.config.streaming, more);
    Object.assign(this.config.streaming.liveSync, liveSync);
    Object.assign(this.config.cmcd, cmcd);
    if (abrFactory) this.config.abrFactory = abrFactory;
    return true;
  }
  getNetworkingEngine() {
    return {
      registerRequestFilter: (filter: RequestFilter) => void this.filters.add(filter),
      unregisterRequestFilter: (filter: RequestFilter) => void this.filters.delete(filter),
    };
  }
  addEventListener(type: string, listener: (event: unknown) => void) {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }
  removeEventListener(type: string, listener: (event: unknown) => void) {
    this.listeners.get(type)?.delete(listener);
  }
  getBufferedInfo = () => ({ video: this.buffered, total: this.buffered });
  getVariantTracks = () => this.variants.map(({ id }) => ({ id, active: id === this.active?.id }));
  getStats = () => ({ maxSegmentDuration: SEGMENT_SECONDS });
  getAssetUri = () => 'https://media.example/stream.mpd';
  getManifest = () => this.manifest;
  getPlaybackRate = () => 1;
  isLive = () => this.isLiveStream;
  seekRange = () => ({ start: 0, end: this.end });

  /** As Shaka does it. */
  load(variants = this.variants.slice(0, 3)) {
    this.manager ??= this.config.abrFactory();
    const { manager } = this;
    manager.init(
      (variant) => {
        this.switches.push(variant);
        this.active = variant;
      },
      () => {},
    );
    manager.setMediaElement(this.element);
    manager.setVariants(variants, false);
    this.active = manager.chooseVariant(true);
    if (this.config.abr.enabled) manager.enable();
  }
  unload() {
    this.manager!.stop();
    this.active = undefined;
    this.buffered = [];
    this.element.currentTime = 0;
  }
  /** Shaka takes its manager away without stopping it; the next source gets a new one. */
  unloadAndSavePreload() {
    this.emit('unloading');
    this.manager = undefined;
  }
  destroy() {
    this.unload();
    this.manager!.release();
    this.manager = undefined;
  }
  emit(type: string, event: object = {}) {
    for (const listener of this.listeners.get(type) ?? []) listener(event);
  }
  /** Requests a video segment in the active variant. */
  request(index: number, type = MEDIA_SEGMENT, request: Request = { uris: [], headers: {} }) {
    request.uris = [`https://media.example/${index}.m4s${this.config.cmcd.enabled ? '?CMCD=d%3D4000' : ''}`];
    const context = { type, stream: this.active!.video!, segment: segmentAt(index) };
    for (const filter of this.filters) filter(1, request, context);
    return { request, context };
  }
  /** Downloads and appends a video segment of `bits` in `seconds`, with progress every 100 ms. */
  download(index: number, bits: number, seconds: number) {
    const { request, context } = this.request(index);
    const parts = Math.round(seconds / 0.1);
    for (let part = 1; part <= parts; part++) {
      wait(0.1);
      if (part === 1) this.emit('downloadheadersreceived', { request, headers: { 'content-length': `${bits / 8}` } });
      else this.manager!.segmentDownloaded(100, bits / 8 / (parts - 1), true, request, context);
    }
    this.emit('downloadcompleted', { request, response: { data: { byteLength: bits / 8 }, timeMs: seconds * 1000 } });
    this.buffered = [{ start: 0, end: (index + 1) * SEGMENT_SECONDS }];
    this.emit('segmentappended', { contentType: 'video', end: (index + 1) * SEGMENT_SECONDS });
  }
  /** What others have left in the player. */
  get left() {
    return this.filters.size + [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

/** Functions stay the same. */
function structuredCloneOf({ abrFactory, ...config }: FakePlayer['config']) {
  return { abrFactory, ...structuredClone(config) };
}

/** The plugin configured in a player. */
export function attached<C extends LeoAbrOptions['controller']>(
  options: LeoAbrOptions & { controller?: C } = {},
  player = new FakePlayer(),
) {
  const factory = createLeoAbrFactory(player as unknown as ShakaPlayer, { logger: null, ...options });
  player.configure({ abrFactory: factory });
  const { handle } = factory;
  const decisions: DecisionEvent[] = [];
  const faults: FaultEvent[] = [];
  handle.on('decision', (event) => decisions.push(event));
  handle.on('fault', (event) => faults.push(event));
  return { controller: options.controller as C, player, factory, handle, decisions, faults };
}
