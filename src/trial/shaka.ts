/** Observes Shaka Player. */

import { DOM_METHODS, listen } from '../core/hooks.ts';
import { MEDIA_SEGMENT, OPERATION_ABORTED, type RequestContext, type ShakaPlayer } from '../shaka/player.ts';
import type { EndEvent, HeadersEvent } from '../shaka/requests.ts';
import { type ObservedPlayer, type PlayerListener, versionOf } from './observed-player.ts';
import { pageSeconds } from './transfers.ts';

interface Shaka extends Pick<ShakaPlayer, 'getNetworkingEngine' | 'isLive'> {
  getMediaElement(): HTMLMediaElement | null;
  getStats(): { liveLatency?: number };
  getVariantTracks(): { bandwidth: number; videoBandwidth?: number | null }[];
}

function handlers({ sourceBegan, sourceEnded, transfers }: PlayerListener) {
  const firstBytes = new WeakMap<object, number>();
  let hasSource = false;
  /** Shaka says that the next source is loading before it unloads the one before. */
  let isNext = false;
  return {
    begun(request: object, { type, stream, segment }: RequestContext = {}) {
      if (type !== MEDIA_SEGMENT || !stream || !segment || !/^(video|audio)$/.test(stream.type)) return;
      const startSeconds = segment.getStartTime();
      const durationSeconds = segment.getEndTime() - startSeconds;
      const video = () => ({ startSeconds, durationSeconds, bitrateBps: stream.bandwidth ?? 0 });
      transfers()?.sent(request, {
        video: stream.type === 'video' ? video : undefined,
        progress: () => ({ firstByteSeconds: firstBytes.get(request) }),
      });
    },
    events: {
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
        transfers()?.ended(request, 'whole', 8 * (response?.data?.byteLength ?? 0)),
      downloadfailed: ({ request, error, aborted }: EndEvent) =>
        transfers()?.ended(request, error?.code === OPERATION_ABORTED && !aborted ? 'abandoned' : 'failed'),
    },
  };
}

export function observedShaka(player: Shaka): ObservedPlayer {
  return {
    name: 'shaka',
    version: versionOf(player),
    listen(listener, guard) {
      const { begun, events } = handlers(listener);
      const network = player.getNetworkingEngine();
      const filter = (_: number, request: object, context?: RequestContext) =>
        void guard(() => begun(request, context));
      network?.registerRequestFilter(filter);
      const stop = listen(player, DOM_METHODS, events, guard);
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
