/** The time of a live stream, and its playback rate in place of Shaka's `liveSync`. */

import { ElementRate, liveLimits } from '../core/live-rate.ts';
import type { LiveOptions } from '../core/options.ts';
import type { LivePosition, LiveRequest } from '../core/player-port.ts';
import { isLive, type LiveSync, type Manifest, type SegmentReference, type ShakaPlayer } from './player.ts';

/** `liveSync` in place of the page's and the stream's: without rates, Shaka only returns to the element's default rate. */
const UNSYNCHRONISED = { enabled: true, panicMode: false, minPlaybackRate: 0, maxPlaybackRate: 0 };

export function createLive(
  player: ShakaPlayer,
  options: { live: LiveOptions },
  element: () => HTMLMediaElement | undefined,
) {
  /** Shaka writes a warning at each call of `getManifest()`, so it is kept. */
  let manifest: Manifest | null | undefined;
  /** `liveSync` of the page, while the rate is the plugin's. */
  let pageSync: LiveSync | undefined;

  /** What is captured now and when it exists; undefined on demand. */
  function edge() {
    if (!isLive(player)) return undefined;
    manifest ??= player.getManifest();
    if (!manifest) return undefined;
    const { presentationTimeline: timeline } = manifest;
    const firstChunkSeconds = Math.max(0, timeline.getMaxSegmentDuration() - timeline.getAvailabilityTimeOffset());
    return { firstChunkSeconds, nowSeconds: timeline.getSegmentAvailabilityEnd() + firstChunkSeconds };
  }

  const rate = new ElementRate({
    element,
    nowSeconds: () => edge()?.nowSeconds,
    turnOff(value) {
      if (!pageSync) {
        pageSync = player.getConfiguration().streaming.liveSync;
        player.configure({ streaming: { liveSync: UNSYNCHRONISED } });
      }
      setDefault(value);
    },
    restore() {
      player.configure({ streaming: { liveSync: pageSync } });
      pageSync = undefined;
      setDefault(1);
    },
  });

  /** The rate that Shaka sets after a stall. */
  function setDefault(value: number): void {
    const media = element();
    if (media) media.defaultPlaybackRate = value;
  }

  return {
    rate,
    /** The rate is the plugin's where Shaka would synchronise, and where an option sets its bounds. */
    position(): LivePosition | undefined {
      const now = edge();
      if (!now) return undefined;
      const liveSync = pageSync ?? player.getConfiguration().streaming.liveSync;
      const described = manifest?.serviceDescription;
      const joinedSeconds = now.nowSeconds - player.seekRange().end;
      const target = options.live.targetLatencySeconds;
      const playersTarget = liveSync.enabled
        ? joinedSeconds + liveSync.targetLatency
        : (described?.targetLatency ?? joinedSeconds);
      const targetLatencySeconds = typeof target === 'number' ? target : playersTarget;
      const media = element();
      return {
        ...now,
        latencySeconds: media?.currentTime ? now.nowSeconds - media.currentTime : targetLatencySeconds,
        targetLatencySeconds,
        isPaceable: Boolean(
          liveSync.enabled ||
            liveSync.panicMode ||
            described ||
            options.live.minPlaybackRate ||
            options.live.maxPlaybackRate,
        ),
        ...liveLimits(options.live, rate, {
          playbackRates: {
            min: described?.minPlaybackRate || liveSync.minPlaybackRate,
            max: described?.maxPlaybackRate || liveSync.maxPlaybackRate,
          },
          maxLatencySeconds: Math.max(described?.maxLatency ?? Number.POSITIVE_INFINITY, targetLatencySeconds),
          targetSeconds: targetLatencySeconds,
        }),
      };
    },
    request(segment: SegmentReference): LiveRequest | undefined {
      const now = edge();
      const segmentSeconds = segment.getEndTime() - segment.getStartTime();
      return (
        now && {
          secondsToFirstChunk: segment.getStartTime() + now.firstChunkSeconds - now.nowSeconds,
          segmentSeconds,
          chunkSeconds: Math.min(segmentSeconds, now.firstChunkSeconds),
        }
      );
    },
    forget() {
      manifest = undefined;
    },
  };
}
