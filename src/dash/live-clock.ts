/** The time of a live stream: the part of the presentation that is captured now, and when its segments exist. */

import type { Representation, StreamInfo } from 'dashjs';
import type { BufferGauge } from './buffer-gauge.ts';
import type { DashPlayer } from './player.ts';

/** dash.js has compared the device's clock with the stream's. */
export interface TimeOffsetEvent {
  /** To add to the device's clock, in ms. */
  offset: number;
}

export class LiveClock {
  #offsetMs: number | undefined;

  constructor(
    private readonly player: DashPlayer,
    private readonly gauge: Pick<BufferGauge, 'playheadSeconds'>,
  ) {}

  synchronised({ offset }: TimeOffsetEvent): void {
    // NaN: the comparison failed.
    if (Number.isFinite(offset)) this.#offsetMs = offset;
  }

  /** The source is another one. */
  forget(): void {
    this.#offsetMs = undefined;
  }

  /** Behind the capture; undefined on demand and before the first picture, where dash.js has NaN and 0. */
  latencySeconds(): number | undefined {
    // Compatible players need not have the method.
    return (this.player as { getCurrentLiveLatency?(): number }).getCurrentLiveLatency?.() || undefined;
  }

  /** Position in the presentation of what is captured now; undefined on demand. */
  nowSeconds({ manifestInfo: { isDynamic, availableFrom } }: StreamInfo): number | undefined {
    if (!isDynamic) return undefined;
    const latency = this.latencySeconds();
    // The plugin was attached after the comparison.
    if (this.#offsetMs === undefined && latency !== undefined) return this.gauge.playheadSeconds() + latency;
    const now = (Date.now() + (this.#offsetMs ?? 0) - Number(availableFrom)) / 1000;
    return Number.isFinite(now) ? now : undefined;
  }
}

/** From the capture of a segment's start to the existence of its first chunk, as the manifest announces it. */
export function firstChunkSeconds({ segmentDuration, availabilityTimeOffset }: Representation): number {
  return Math.max(0, segmentDuration - (availabilityTimeOffset || 0));
}
