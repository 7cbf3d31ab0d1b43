/**
 * hls.js itself, of each version that the plugin supports, with playlists from memory. It loads no segments: tests ask
 * it for the next level as its stream controller does, and emit the events of downloads.
 */

import { afterAll, beforeAll } from '@jest/globals';
import type { HlsConfig, LoaderContext, LoaderStats, MediaFragment, Part } from 'hls.js';
import Hls from 'hls.js';
import Hls16 from 'hls.js-1.6';
import { wait } from '../../session/scripted.fixture.ts';
import {
  heard,
  LADDER_BPS,
  type OptionsWith,
  SEGMENT_SECONDS,
  SEGMENTS,
  type Sent,
  StandIn,
} from '../../session/stand-in.fixture.ts';
import { createLeoAbrController, type LeoAbrOptions } from '../hls.ts';

// Private members make the classes' types differ.
export const OldHls = Hls16 as unknown as typeof Hls;
export const VERSIONS = [
  ['1.7', Hls],
  ['1.6', OldHls],
] as const;

/** For all tests of a file: what hls.js needs of a window. */
export function useWindow(): void {
  const window = { self: globalThis, location: { href: 'https://page.example/' }, navigator: { userAgent: '' } };
  beforeAll(() => {
    Object.assign(globalThis, window);
  });
  afterAll(() => {
    for (const name of Object.keys(window)) Reflect.deleteProperty(globalThis, name);
  });
}

const PLAYLIST_SECONDS = 0.1;
const VARIANTS = LADDER_BPS.map((bps, i) => `BANDWIDTH=${bps},RESOLUTION=${640 * (i + 1)}x${360 * (i + 1)}`);

/** `attributes`: of each variant. */
export function playlists(attributes: readonly string[] = VARIANTS): Record<string, string> {
  const variants = attributes.map((one, i) => `#EXT-X-STREAM-INF:${one}\nv${i}.m3u8`);
  const media = Array.from({ length: SEGMENTS }, (_, i) => `#EXTINF:${SEGMENT_SECONDS},\n${i}.m4s`);
  const list = `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${media.join('\n')}\n#EXT-X-ENDLIST`;
  return { 'main.m3u8': `#EXTM3U\n${variants.join('\n')}`, 'v0.m3u8': list, 'v1.m3u8': list, 'v2.m3u8': list };
}

/** `playlists` of a live stream: 20 segments of 4 s from the 100th, of `kbps`, and `parts` of 0.5 s of the next one. */
export function livePlaylists(parts = 0, kbps?: number): Record<string, string> {
  const lowLatency = ['#EXT-X-PART-INF:PART-TARGET=0.5', '#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.5,HOLD-BACK=12'];
  const list = [
    ...['#EXTM3U', '#EXT-X-VERSION:9', '#EXT-X-TARGETDURATION:4', '#EXT-X-MEDIA-SEQUENCE:100'],
    ...(parts > 0 ? lowLatency : []),
    ...(kbps === undefined ? [] : [`#EXT-X-BITRATE:${kbps}`]),
    ...Array.from({ length: 20 }, (_, i) => `#EXTINF:4,\n${100 + i}.m4s`),
    ...Array.from({ length: parts }, (_, i) => `#EXT-X-PART:DURATION=0.5,URI="120.${i}.m4s",INDEPENDENT=YES`),
  ].join('\n');
  return { ...playlists(), 'v0.m3u8': list, 'v1.m3u8': list, 'v2.m3u8': list };
}

function newStats(): LoaderStats {
  const phase = () => ({ start: 0, first: 0, end: 0 });
  const counted = { aborted: false, loaded: 0, retry: 0, total: 0, chunkCount: 0, bwEstimate: 0 };
  return { ...counted, loading: { ...phase(), start: performance.now() }, parsing: phase(), buffering: phase() };
}

function loaderOf(files: Record<string, string>) {
  return class {
    context = null;
    stats = undefined as unknown as LoaderStats;
    load(context: LoaderContext, _: unknown, callbacks: { onSuccess(...args: unknown[]): void }): void {
      const { href, pathname } = new URL(context.url);
      const stats = newStats();
      setTimeout(() => {
        stats.loading.first = stats.loading.end = performance.now();
        callbacks.onSuccess({ url: href, data: files[pathname.slice(1)] }, stats, context, null);
      }, PLAYLIST_SECONDS * 1000);
    }
    abort(): void {}
    destroy(): void {}
  } as unknown as NonNullable<HlsConfig['pLoader']>;
}

export class FakePlayer extends StandIn {
  readonly hls: Hls;
  bufferLevelSeconds = 0;
  /** The browser, or the page, wants more media. */
  isBuffering = true;
  hasMedia = true;
  private _stats: LoaderStats | undefined;

  constructor(
    private readonly _Player: typeof Hls,
    config: Partial<HlsConfig>,
    files = playlists(),
  ) {
    super();
    this.hls = new _Player({ autoStartLoad: false, pLoader: loaderOf(files), ...config });
    Object.defineProperty(this.hls, 'mainForwardBufferInfo', {
      get: () => ({ len: this.bufferLevelSeconds, start: 0, end: this.bufferLevelSeconds }),
    });
    Object.defineProperty(this.hls, 'bufferingEnabled', { get: () => this.isBuffering });
    Object.defineProperty(this.hls, 'media', { get: () => (this.hasMedia ? this.media : null) });
  }

  /** Loads the source, with its media element attached, and the playlist of the first level. */
  start(): this {
    const { hls } = this;
    hls.trigger(Hls.Events.MEDIA_ATTACHED, { media: this.media as unknown as HTMLMediaElement });
    this.nextSource();
    return this;
  }

  nextSource(): void {
    const { hls } = this;
    this.bufferLevelSeconds = 0;
    hls.loadSource('https://media.example/main.m3u8');
    wait(PLAYLIST_SECONDS);
    hls.startLoad();
    // The stream controller then loads no segments.
    hls.pauseBuffering();
    wait(PLAYLIST_SECONDS);
  }

  get left(): number {
    // hls.js itself adds one of these while it loads.
    const { BUFFER_CODECS: _, ...events } = this._Player.Events;
    const count = (hls: Hls) => Object.values(events).reduce((sum, event) => sum + hls.listenerCount(event), 0);
    return count(this.hls) - count(new this._Player());
  }

  setAdaptive(isAdaptive: boolean): void {
    this.hls.loadLevel = isAdaptive ? -1 : this.hls.loadLevel;
  }

  /** The level of the next request, as the stream controller finds it. */
  ask(): number {
    const { hls } = this;
    const level = hls.nextLoadLevel;
    hls.nextLoadLevel = level;
    return hls.loadLevel;
  }

  fragment(index: number, level = this.hls.loadLevel): MediaFragment {
    return this.hls.levels[level]!.details!.fragments[index]!;
  }

  /** Requests a segment, or a part of one; returns the loader's stats. */
  request(frag: MediaFragment, part?: Part, counts: Partial<LoaderStats> = {}): LoaderStats {
    const stats = { ...newStats(), ...counts };
    (part ?? frag).stats = stats;
    frag.url = `${this.server}/${frag.relurl}`;
    this._stats = stats;
    const abort = () => {
      stats.aborted = true;
      frag.loader = null;
    };
    frag.loader = { stats, abort } as unknown as MediaFragment['loader'];
    if (!part || part.index === 0 || part.independent)
      this.hls.trigger(Hls.Events.FRAG_LOADING, { frag, ...(part && { part }), targetBufferTime: frag.start });
    return stats;
  }

  loaded(frag: MediaFragment, bytes: number, part: Part | null = null): void {
    const { stats } = part ?? frag;
    stats.total = bytes;
    stats.loading.first ||= performance.now();
    stats.loading.end = performance.now();
    stats.loaded = bytes;
    frag.loader = null;
    this.hls.trigger(Hls.Events.FRAG_LOADED, { frag, part, payload: new ArrayBuffer(0), networkDetails: null });
  }

  /** `code`: the status of HTTP. */
  error(type: string, details: string, frag?: MediaFragment, code?: number): void {
    const event = { type, details, fatal: false, error: new Error(details), ...(frag && { frag }), response: { code } };
    this.hls.trigger(Hls.Events.ERROR, event as never);
  }

  send(index: number, level = this.ask()): Sent {
    if (!this.hls.levels[level]!.details) wait(PLAYLIST_SECONDS);
    const frag = this.fragment(index, level);
    const stats = this.request(frag);
    return {
      arrived: (bits) => {
        stats.loaded = bits / 8;
      },
      completed: (bits) => this.loaded(frag, bits / 8),
      failed: (status?: number) => {
        frag.loader = null;
        this.error('networkError', 'fragLoadError', frag, status);
      },
      aborted: () => frag.abortRequests(),
    };
  }

  abandon(): number {
    if (!this._stats!.aborted) throw new Error('the plugin has not aborted the request');
    return this.hls.loadLevel;
  }
}

export function attached<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C> = {},
  given: { Player?: typeof Hls; config?: Partial<HlsConfig>; files?: Record<string, string> } = {},
) {
  const { Player = Hls, config, files } = given;
  const leoAbr = createLeoAbrController({ logger: null, ...options });
  const seen = heard(leoAbr.handle);
  const player = new FakePlayer(Player, { abrController: leoAbr, ...config }, files).start();
  return { ...seen, controller: options.controller as C, leoAbr, player, hls: player.hls };
}

/** A live stream plays at its target: 20 segments of 4 s, and `parts` of the next one. The newest is requested. */
export function playLive<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C>,
  { parts, kbps, config = {} }: { parts?: number; kbps?: number; config?: Partial<HlsConfig> } = {},
) {
  const seen = attached(options, { files: livePlaylists(parts, kbps), config });
  const { player, hls } = seen;
  const edge = () => hls.latestLevelDetails!.edge + hls.latestLevelDetails!.age;
  player.media.currentTime = edge() - hls.targetLatency!;
  player.bufferLevelSeconds = 2;
  player.plays();
  player.ask();
  const frag = player.fragment(19);
  const stats = player.request(frag);
  wait(0.1);
  return { ...seen, edge, frag, stats, catchUp: () => hls.config.maxLiveSyncPlaybackRate };
}
