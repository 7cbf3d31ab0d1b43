/** Observes dash.js. */

import type { MediaPlayerClass } from 'dashjs';
import { EMITTER_METHODS, listen } from '../core/hooks.ts';
import type { RequestEvent } from '../dash/live-support.ts';
import { bytesLoaded } from '../dash/requests.ts';
import type { ObservedPlayer, PlayerListener } from './observed-player.ts';

type Dash = Pick<
  MediaPlayerClass,
  'getVersion' | 'getVideoElement' | 'isDynamic' | 'getCurrentLiveLatency' | 'getRepresentationsByType'
> & { /** Before 5.2, absent. */ getRepresentationsByTypeUnfiltered?: MediaPlayerClass['getRepresentationsByType'] };

function handlers({ sourceBegan, sourceEnded, transfers }: PlayerListener) {
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
      const { type, mediaType, startTime: startSeconds, duration: durationSeconds, representation } = request;
      if (type !== 'MediaSegment' || !/^(video|audio)$/.test(mediaType) || !representation) return;
      const video = () => ({ startSeconds, durationSeconds, bitrateBps: representation.bandwidth });
      transfers()?.sent(request, {
        video: mediaType === 'video' ? video : undefined,
        progress: () => ({ bits: 8 * bytesLoaded(request) }),
      });
    },
    loadingProgress: () => transfers()?.poll(),
    fragmentLoadingCompleted({ request, response, error }: RequestEvent) {
      // In low-latency mode, the response is the last part.
      const bits = 8 * Math.max(bytesLoaded(request), response?.byteLength ?? 0);
      transfers()?.ended(request, error ? 'failed' : 'whole', bits);
    },
    fragmentLoadingAbandoned: ({ request }: RequestEvent) => transfers()?.ended(request, 'abandoned'),
  };
}

export function observedDash(player: Dash): ObservedPlayer {
  return {
    name: 'dash.js',
    version: player.getVersion(),
    listen: (listener, guard) => listen(player, EMITTER_METHODS, handlers(listener), guard),
    element: () => player.getVideoElement(),
    isLive: () => player.isDynamic(),
    latencySeconds: () => player.getCurrentLiveLatency(),
    bitratesBps() {
      const all = player.getRepresentationsByTypeUnfiltered?.('video') ?? player.getRepresentationsByType('video');
      return all.map(({ bandwidth }) => bandwidth);
    },
  };
}
