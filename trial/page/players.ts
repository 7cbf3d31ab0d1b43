/** Reads what a session's report needs from each player's events and getters, and sets nothing in a player. */

import type { MediaPlayerClass } from 'dashjs';
import type Hls from 'hls.js';
import type { ErrorData, FragLoadedData, FragLoadingData, Fragment, Level, Part } from 'hls.js';
import type { Encoding } from '../../abr/qoe/quality.ts';
import { DOM_METHODS, EMITTER_METHODS, type Handlers, listen } from '../../src/adapter-kit.ts';
import type { RequestEvent } from '../../src/dash/live.ts';
import { bytesLoaded } from '../../src/dash/requests.ts';
import { MEDIA_SEGMENT, OPERATION_ABORTED, type RequestContext, type ShakaPlayer } from '../../src/shaka/player.ts';
import type { EndEvent, HeadersEvent } from '../../src/shaka/requests.ts';
import type { ObservedPlayer, PlayerListener } from './reports.ts';
import { pageSeconds } from './transfers.ts';

type Picture = { [K in 'width' | 'height' | 'frameRate']?: number | null };
const rung = ({ width, height, frameRate }: Picture, bitrateBps: number, codec?: string | null) =>
  ({ width, height, frameRate, bitrateBps, codec: codec ?? '' }) as Encoding;

const isWatched = (type: string) => type === 'video' || type === 'audio';
const versionOf = (player: object) => (player.constructor as { version?: string }).version ?? 'unknown';

type Dash = Pick<
  MediaPlayerClass,
  'getVersion' | 'getVideoElement' | 'isDynamic' | 'getCurrentLiveLatency' | 'getRepresentationsByType'
> & { /** Before 5.2, absent. */ getRepresentationsByTypeUnfiltered?: MediaPlayerClass['getRepresentationsByType'] };

function dashHandlers({ sourceBegan, sourceEnded, transfers }: PlayerListener): Handlers {
  let hasSource = false;
  return {
    manifestLoadingStarted() {
      // Live manifests are loaded again and again.
      if (!hasSource) sourceBegan();
      hasSource = true;
    },
    streamTeardownComplete() {
      hasSource = false;
      sourceEnded();
    },
    fragmentLoadingStarted({ request }: RequestEvent) {
      const { type, mediaType, startTime: startSeconds, duration, representation } = request;
      if (type !== 'MediaSegment' || !isWatched(mediaType) || !representation) return;
      const [endSeconds, bitrateBps] = [startSeconds + duration, representation.bandwidth];
      transfers()?.sent(request, {
        video: mediaType === 'video' ? () => ({ startSeconds, endSeconds, bitrateBps }) : undefined,
        progress: () => ({ bits: 8 * bytesLoaded(request) }),
      });
    },
    loadingProgress: () => transfers()?.poll(),
    fragmentLoadingCompleted({ request, response, error }: RequestEvent) {
      // In low-latency mode, the response is the last part.
      const bits = 8 * Math.max(bytesLoaded(request), response?.byteLength || 0);
      transfers()?.ended(request, error ? 'failed' : 'whole', bits);
    },
    fragmentLoadingAbandoned: ({ request }: RequestEvent) => transfers()?.ended(request, 'abandoned'),
  };
}

export function observedDash(player: Dash): ObservedPlayer {
  return {
    name: 'dash.js',
    version: player.getVersion(),
    listen: (listener, guard) => [listen(player, EMITTER_METHODS, dashHandlers(listener), guard)],
    element: () => player.getVideoElement(),
    isLive: () => player.isDynamic(),
    latencySeconds: () => player.getCurrentLiveLatency(),
    ladder() {
      const all = player.getRepresentationsByTypeUnfiltered?.('video') ?? player.getRepresentationsByType('video');
      return all.map((one) => rung(one, one.bandwidth, one.codecs));
    },
  };
}

/** hls.js 1.5 has no `latestLevelDetails`. */
type HlsPlayer = Pick<Hls, 'levels' | 'media' | 'latency'> & Partial<Pick<Hls, 'latestLevelDetails'>>;

/** The declared mean bitrate, if any. hls.js's own `averageBitrate` may be a measurement. */
function bitrateOf(level: Level | undefined): number {
  return Number(level?.attrs?.['AVERAGE-BANDWIDTH']) || level?.bitrate || 0;
}

/** The transfer of a segment or part. hls.js may correct its times, and counts each attempt in a new object. */
function transferOf({ levels }: HlsPlayer, frag: Fragment, media: Fragment | Part = frag) {
  const bitrateBps = bitrateOf(levels[frag.level]);
  const video = () => ({ startSeconds: media.start, endSeconds: media.end, bitrateBps });
  return {
    // hls.js loads a bandwidth test again for playback.
    video: frag.type === 'main' && !frag.bitrateTest ? video : undefined,
    progress() {
      const { loaded, aborted, loading } = media.stats;
      return { bits: 8 * loaded, isAborted: aborted, firstByteSeconds: loading.first / 1000 || undefined };
    },
  };
}

function hlsHandlers(player: HlsPlayer, { sourceBegan, sourceEnded, transfers }: PlayerListener): Handlers {
  const latest = new Map<string, Fragment>();
  return {
    hlsManifestLoading: () => sourceBegan(),
    hlsDestroying: () => sourceEnded(),
    hlsFragLoading({ frag, part }: FragLoadingData) {
      if (part || frag.sn === 'initSegment' || frag.type === 'subtitle') return;
      // hls.js has no event for an abort.
      const before = latest.get(frag.type);
      if (before) transfers()?.ended(before, 'abandoned');
      latest.set(frag.type, frag);
      transfers()?.sent(frag, transferOf(player, frag));
    },
    hlsFragLoaded({ frag, part }: FragLoadedData) {
      // hls.js has an event only for the first of several parts.
      const sentSeconds = part ? part.stats.loading.start / 1000 : 0;
      if (part) transfers()?.sent(part, { ...transferOf(player, frag, part), sentSeconds });
      transfers()?.ended(part ?? frag, 'whole');
    },
    hlsError: ({ frag }: ErrorData) => frag && transfers()?.ended(frag, frag.stats?.aborted ? 'abandoned' : 'failed'),
  };
}

export function observedHls(player: HlsPlayer): ObservedPlayer {
  return {
    name: 'hls.js',
    version: versionOf(player),
    listen: (listener, guard) => [listen(player, EMITTER_METHODS, hlsHandlers(player, listener), guard)],
    element: () => player.media,
    isLive: () => player.latestLevelDetails?.live ?? player.levels.find(({ details }) => details)?.details?.live,
    latencySeconds: () => player.latency || undefined,
    ladder: () => player.levels.map((level) => rung(level, bitrateOf(level), level.videoCodec)),
  };
}

interface Shaka extends Pick<ShakaPlayer, 'getNetworkingEngine' | 'isLive'> {
  getMediaElement(): HTMLMediaElement | null;
  getStats(): { liveLatency?: number };
  getVariantTracks(): (Picture & { videoCodec?: string | null; bandwidth: number; videoBandwidth?: number | null })[];
}

export function observedShaka(player: Shaka): ObservedPlayer {
  const firstBytes = new WeakMap<object, number>();
  let hasSource = false;
  /** Shaka announces the next source's load before it unloads the present source. */
  let isNext = false;
  return {
    name: 'shaka',
    version: versionOf(player),
    listen({ sourceBegan, sourceEnded, transfers }, guard) {
      const begun = (request: object, { type, stream, segment }: RequestContext = {}) => {
        if (type !== MEDIA_SEGMENT || !stream || !segment || !isWatched(stream.type)) return;
        const [startSeconds, endSeconds] = [segment.getStartTime(), segment.getEndTime()];
        const video = () => ({ startSeconds, endSeconds, bitrateBps: stream.bandwidth || 0 });
        transfers()?.sent(request, {
          video: stream.type === 'video' ? video : undefined,
          progress: () => ({ firstByteSeconds: firstBytes.get(request) }),
        });
      };
      const handlers = {
        loading() {
          isNext = hasSource;
          hasSource = true;
          sourceBegan();
        },
        unloading() {
          hasSource = isNext;
          if (!isNext) sourceEnded();
          isNext = false;
        },
        downloadheadersreceived: ({ request }: HeadersEvent) => void firstBytes.set(request, pageSeconds()),
        downloadcompleted: ({ request, response }: EndEvent) =>
          transfers()?.ended(request, 'whole', 8 * (response?.data?.byteLength || 0)),
        downloadfailed: ({ request, error, aborted }: EndEvent) =>
          transfers()?.ended(request, error?.code === OPERATION_ABORTED && !aborted ? 'abandoned' : 'failed'),
      };
      const network = player.getNetworkingEngine();
      const filter = (_: number, request: object, context?: RequestContext) =>
        void guard(() => begun(request, context));
      network?.registerRequestFilter(filter);
      return [listen(player, DOM_METHODS, handlers, guard), () => network?.unregisterRequestFilter(filter)];
    },
    element: () => player.getMediaElement(),
    isLive: () => player.isLive(),
    latencySeconds: () => player.getStats().liveLatency,
    ladder: () =>
      player.getVariantTracks().map((one) => rung(one, one.videoBandwidth || one.bandwidth, one.videoCodec)),
  };
}
