/** The time of a live stream. */

import type { Representation, StreamInfo } from 'dashjs';
import type { LiveTime } from '../../session/player-port.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import type { DashPlayer } from './player.ts';

/** dash.js has compared the device's clock with the stream's. */
export interface TimeOffsetEvent {
  /** To add to the device's clock, in ms. */
  offset: number;
}

export class LiveClock {
  private _offsetMs: number | undefined;

  constructor(
    private readonly _player: DashPlayer,
    private readonly _gauge: Pick<BufferGauge, 'playheadSeconds'>,
  ) {}

  synchronised({ offset }: TimeOffsetEvent): void {
    // NaN: the comparison failed.
    if (Number.isFinite(offset)) this._offsetMs = offset;
  }

  forget(): void {
    this._offsetMs = undefined;
  }

  /** Seconds behind the capture; undefined on demand and before the first picture, where dash.js has NaN and 0. */
  latencySeconds(): number | undefined {
    // Compatible players need not have the method.
    return (this._player as { getCurrentLiveLatency?(): number }).getCurrentLiveLatency?.() || undefined;
  }

  /** The time of the live stream; undefined on demand. */
  time(
    { manifestInfo }: StreamInfo,
    { segmentDuration, availabilityTimeOffset }: Representation,
  ): LiveTime | undefined {
    const { isDynamic, availableFrom } = manifestInfo;
    if (!isDynamic) return undefined;
    const latency = this.latencySeconds();
    const isSynchronised = this._offsetMs !== undefined || latency === undefined;
    const nowSeconds = isSynchronised
      ? (Date.now() + (this._offsetMs || 0) - Number(availableFrom)) / 1000
      : // The plugin was attached after the comparison.
        this._gauge.playheadSeconds() + latency;
    // As the manifest announces it.
    const firstChunkSeconds = Math.max(0, segmentDuration - (availabilityTimeOffset || 0));
    return Number.isFinite(nowSeconds) ? { nowSeconds, firstChunkSeconds } : undefined;
  }
}
