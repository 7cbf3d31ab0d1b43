/** Observes dash.js. */

import type { Outcome } from '../../predictor/link/segment-download.ts';
import { EMITTER_METHODS, listen } from '../core/hooks.ts';
import { bytesLoaded } from '../dash/requests.ts';
import { highest, type ObservedPlayer, type PlayerListener } from './observed-player.ts';

interface Dash {
  getVersion(): string;
  getVideoElement(): HTMLMediaElement;
  isDynamic(): boolean;
  getCurrentLiveLatency(): number;
  getRepresentationsByType(type: string): { bandwidth: number }[];
  /** Before 5.2, absent. */
  getRepresentationsByTypeUnfiltered?(type: string): { bandwidth: number }[];
}

interface DashEvent {
  request: {
    type: string;
    mediaType: string;
    startTime: number;
    duration: number;
    bytesLoaded: number;
    bytesTotal: number;
    traces: never;
    representation: { bandwidth: number } | null;
  };
  response?: ArrayBuffer | null;
  error?: unknown;
}

export function observedDash(player: Dash): ObservedPlayer {
  const known = new WeakSet<object>();
  const handlers = ({ sourceBegan, sourceEnded, sent, progressed, ended, buffered }: PlayerListener) => {
    let hasSource = false;
    const end = ({ request, response, error }: DashEvent, outcome: Outcome) => {
      const { mediaType, startTime, duration, representation } = request;
      // In low-latency mode, the last part.
      const bits = 8 * Math.max(bytesLoaded(request), response?.byteLength ?? 0);
      ended(request, error ? 'failed' : outcome, bits);
      if (error || outcome !== 'whole' || mediaType !== 'video' || !known.has(request)) return;
      const bitrateBps = representation!.bandwidth;
      buffered({ startSeconds: startTime, endSeconds: startTime + duration, bitrateBps });
    };
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
      fragmentLoadingStarted({ request }: DashEvent) {
        const { type, mediaType, duration, representation } = request;
        if (type !== 'MediaSegment' || !representation || !/^(video|audio)$/.test(mediaType)) return;
        known.add(request);
        sent(request, {
          isVideo: mediaType === 'video',
          receivedBits: () => 8 * bytesLoaded(request),
          sizeBits: () => 8 * request.bytesTotal || duration * representation.bandwidth,
        });
      },
      loadingProgress: () => progressed(),
      fragmentLoadingCompleted: (event: DashEvent) => end(event, 'whole'),
      fragmentLoadingAbandoned: (event: DashEvent) => end(event, 'abandoned'),
    };
  };
  return {
    name: 'dash.js',
    version: player.getVersion(),
    listen: (listener, guard) => listen(player, EMITTER_METHODS, handlers(listener), guard),
    element: () => player.getVideoElement(),
    isLive: () => player.isDynamic(),
    latencySeconds: () => player.getCurrentLiveLatency(),
    topBitrateBps: () =>
      highest(
        (player.getRepresentationsByTypeUnfiltered?.('video') ?? player.getRepresentationsByType('video')).map(
          ({ bandwidth }) => bandwidth,
        ),
      ),
  };
}
