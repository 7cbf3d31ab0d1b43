/** Observes Shaka Player. */

import { DOM_METHODS, listen } from '../core/hooks.ts';
import { MEDIA_SEGMENT, OPERATION_ABORTED, type Request, type RequestContext, type Stream } from '../shaka/player.ts';
import { highest, type ObservedPlayer, type PlayerListener, versionOf } from './observed-player.ts';
import type { BufferedSegment } from './playback.ts';

interface Shaka {
  getNetworkingEngine(): {
    registerRequestFilter(filter: (type: number, request: Request, context?: RequestContext) => void): void;
    unregisterRequestFilter(filter: (type: number, request: Request, context?: RequestContext) => void): void;
  } | null;
  getMediaElement(): HTMLMediaElement | null;
  isLive(): boolean;
  getStats(): { liveLatency?: number };
  getVariantTracks(): { bandwidth: number; videoBandwidth?: number | null }[];
}

interface ShakaEvent {
  request: object;
  headers?: Record<string, string>;
  response?: { data?: { byteLength: number } | null };
  error?: { code?: number } | null;
  aborted?: boolean;
}

interface ShakaDownload {
  segment: BufferedSegment | undefined;
  firstByteSeconds?: number;
  sizeBits?: number;
}

const bandwidthOf = ({ bandwidth, videoBandwidth }: ReturnType<Shaka['getVariantTracks']>[number]) =>
  videoBandwidth || bandwidth;

export function observedShaka(player: Shaka): ObservedPlayer {
  const downloads = new WeakMap<object, ShakaDownload>();
  const filter =
    ({ sent }: PlayerListener) =>
    (_: number, request: Request, context?: RequestContext) => {
      const { type, stream, segment } = context ?? {};
      if (type !== MEDIA_SEGMENT || !stream || !segment || !/^(video|audio)$/.test(stream.type)) return;
      if (downloads.has(request)) return;
      const startSeconds = segment.getStartTime();
      const endSeconds = segment.getEndTime();
      const bitrateBps = bitrateOf(stream);
      const isVideo = stream.type === 'video';
      const download: ShakaDownload = { segment: isVideo ? { startSeconds, endSeconds, bitrateBps } : undefined };
      downloads.set(request, download);
      sent(request, {
        isVideo,
        receivedBits: () => undefined,
        sizeBits: () => download.sizeBits || bitrateBps * (endSeconds - startSeconds),
        firstByteSeconds: () => download.firstByteSeconds,
      });
    };
  const bitrateOf = ({ bandwidth }: Stream) => bandwidth ?? 0;
  let hasSource = false;
  /** Shaka says that the next source is loading before it unloads the one before. */
  let isNext = false;
  const handlers = ({ sourceBegan, sourceEnded, ended, buffered }: PlayerListener) => ({
    loading() {
      isNext = hasSource;
      hasSource = true;
      sourceEnded();
      sourceBegan();
    },
    unloading() {
      hasSource = isNext;
      if (!isNext) sourceEnded();
      isNext = false;
    },
    downloadheadersreceived({ request, headers }: ShakaEvent) {
      const download = downloads.get(request);
      if (!download) return;
      download.firstByteSeconds = performance.now() / 1000;
      download.sizeBits = headers?.['content-encoding'] ? 0 : 8 * Number(headers?.['content-length'] ?? 0);
    },
    downloadcompleted({ request, response }: ShakaEvent) {
      ended(request, 'whole', 8 * (response?.data?.byteLength ?? 0));
      const { segment } = downloads.get(request) ?? {};
      if (segment && segment.bitrateBps > 0) buffered(segment);
    },
    downloadfailed({ request, error, aborted }: ShakaEvent) {
      ended(request, error?.code === OPERATION_ABORTED && !aborted ? 'abandoned' : 'failed');
    },
  });
  return {
    name: 'shaka',
    version: versionOf(player),
    listen(listener, guard) {
      const network = player.getNetworkingEngine();
      const guarded = (...args: Parameters<ReturnType<typeof filter>>) => void guard(() => filter(listener)(...args));
      network?.registerRequestFilter(guarded);
      const stop = listen(player, DOM_METHODS, handlers(listener), guard);
      return () => {
        network?.unregisterRequestFilter(guarded);
        stop();
      };
    },
    element: () => player.getMediaElement(),
    isLive: () => player.isLive(),
    latencySeconds: () => player.getStats().liveLatency,
    topBitrateBps: () => highest(player.getVariantTracks().map(bandwidthOf)),
  };
}
