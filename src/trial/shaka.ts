/** Observes Shaka Player. */

import { DOM_METHODS, listen } from '../core/hooks.ts';
import { MEDIA_SEGMENT, OPERATION_ABORTED, type RequestContext, type ShakaPlayer } from '../shaka/player.ts';
import type { EndEvent, HeadersEvent } from '../shaka/requests.ts';
import {
  type ObservedPlayer,
  type PlayerListener,
  pageSeconds,
  type VideoSegment,
  versionOf,
} from './observed-player.ts';

interface Shaka extends Pick<ShakaPlayer, 'getNetworkingEngine' | 'isLive'> {
  getMediaElement(): HTMLMediaElement | null;
  getStats(): { liveLatency?: number };
  getVariantTracks(): { bandwidth: number; videoBandwidth?: number | null }[];
}

type Download = { video: VideoSegment | undefined; firstByteSeconds?: number; sizeBits?: number };

function handlers(downloads: WeakMap<object, Download>, { sourceBegan, sourceEnded, ended }: PlayerListener) {
  let hasSource = false;
  /** Shaka says that the next source is loading before it unloads the one before. */
  let isNext = false;
  return {
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
    downloadheadersreceived({ request, headers }: HeadersEvent) {
      const sizeBits = headers['content-encoding'] ? 0 : 8 * Number(headers['content-length'] ?? 0);
      Object.assign(downloads.get(request) ?? {}, { firstByteSeconds: pageSeconds(), sizeBits });
    },
    downloadcompleted: ({ request, response }: EndEvent) =>
      ended(request, 'whole', 8 * (response?.data?.byteLength ?? 0)),
    downloadfailed: ({ request, error, aborted }: EndEvent) =>
      ended(request, error?.code === OPERATION_ABORTED && !aborted ? 'abandoned' : 'failed'),
  };
}

export function observedShaka(player: Shaka): ObservedPlayer {
  return {
    name: 'shaka',
    version: versionOf(player),
    listen(listener, guard) {
      const downloads = new WeakMap<object, Download>();
      const begun = (request: object, { type, stream, segment }: RequestContext = {}) => {
        if (type !== MEDIA_SEGMENT || !stream || !segment || !/^(video|audio)$/.test(stream.type)) return;
        const startSeconds = segment.getStartTime();
        const durationSeconds = segment.getEndTime() - startSeconds;
        const video = { startSeconds, durationSeconds, bitrateBps: stream.bandwidth ?? 0 };
        const download: Download = { video: stream.type === 'video' ? video : undefined };
        downloads.set(request, download);
        listener.sent(request, download);
      };
      const network = player.getNetworkingEngine();
      const filter = (_: number, request: object, context?: RequestContext) =>
        void guard(() => begun(request, context));
      network?.registerRequestFilter(filter);
      const stop = listen(player, DOM_METHODS, handlers(downloads, listener), guard);
      return () => {
        network?.unregisterRequestFilter(filter);
        stop();
      };
    },
    element: () => player.getMediaElement(),
    isLive: () => player.isLive(),
    latencySeconds: () => player.getStats().liveLatency,
    bitratesBps: () => player.getVariantTracks().map(({ bandwidth, videoBandwidth }) => videoBandwidth || bandwidth),
  };
}
