/** The time of a live stream: the part of the presentation that is captured now, and when its segments exist. */

import type { Representation, StreamInfo } from 'dashjs';
import type { DashPlayer } from './player.ts';

/** dash.js has compared the device's clock with the stream's. */
export interface TimeOffsetEvent {
  /** To add to the device's clock, in ms. */
  offset: number;
}

export interface LiveClock {
  synchronised(event: TimeOffsetEvent): void;
  /** The source is another one. */
  forget(): void;
  /** Position in the presentation of what is captured now; undefined on demand. */
  nowSeconds(stream: StreamInfo): number | undefined;
  /** Behind the capture; undefined on demand and before the first picture. */
  latencySeconds(): number | undefined;
}

export function liveClock(player: DashPlayer, playheadSeconds: () => number): LiveClock {
  let offsetMs: number | undefined;
  // Optional, so that compatible players need not have it. dash.js's is 0 before the first picture, NaN on demand.
  const latencySeconds = () => (player as { getCurrentLiveLatency?(): number }).getCurrentLiveLatency?.() || undefined;
  return {
    synchronised({ offset }) {
      // NaN: the comparison failed.
      if (Number.isFinite(offset)) offsetMs = offset;
    },
    forget() {
      offsetMs = undefined;
    },
    latencySeconds,
    nowSeconds({ manifestInfo: { isDynamic, availableFrom } }) {
      if (!isDynamic) return undefined;
      const latency = latencySeconds();
      // The plugin was attached after the comparison.
      if (offsetMs === undefined && latency !== undefined) return playheadSeconds() + latency;
      const now = (Date.now() + (offsetMs ?? 0) - Number(availableFrom)) / 1000;
      return Number.isFinite(now) ? now : undefined;
    },
  };
}

/** From the capture of a segment's start to the existence of its first chunk, as the manifest announces it. */
export function firstChunkSeconds({ segmentDuration, availabilityTimeOffset }: Representation): number {
  return Math.max(0, segmentDuration - (availabilityTimeOffset || 0));
}
