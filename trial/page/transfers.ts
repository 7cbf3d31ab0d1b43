/** Counts the bits of a session's requests, and when they arrived. */

import { SILENCE_SECONDS } from '../../abr/forecast.ts';
import type { Outcome } from '../../session/player-port.ts';
import type { LinkRecord } from './link.ts';
import type { Playback, VideoSegment } from './playback.ts';

/** A response that is complete sooner came from a cache. */
const CACHED_SECONDS = 0.01;

/** A request for audio or video that the player has sent. Seconds are of the page's clock. */
interface ObservedTransfer {
  /** Default: now. */
  sentSeconds?: number;
  /** As the player knows it at present. Absent for audio. */
  video: (() => VideoSegment) | undefined;
  /** Progress so far. `isAborted`: the player tells no event. Fields that the player does not tell are absent. */
  progress(): { bits?: number; isAborted?: boolean; firstByteSeconds?: number | undefined };
}

/** `toldSeconds` is when the player told `bits`; undefined before the first byte. */
type Running = ObservedTransfer & { sentSeconds: number; bits: number; toldSeconds?: number };

/** The page's even clock. */
export const pageSeconds = () => performance.now() / 1000;

/** An object of the player identifies each request. */
export class Transfers {
  requestedBits = 0;
  wastedBits = 0;
  /** Bits of whole segments of video, by bitrate. */
  readonly bitsByBitrate: Record<number, number> = {};
  private _endedBits = 0;
  private readonly _running = new Map<object, Running>();
  /** The rate of the newest bits, for downloads without a measurement. */
  private _rateBps = 0;

  /** With `isLive`, a request may wait for the encoder. */
  constructor(private readonly _session: { isLive: boolean; playback: Playback; link: LinkRecord }) {}

  /** Bits of audio and video, also of requests that were aborted or are under way. */
  get receivedBits(): number {
    let bits = this._endedBits;
    for (const { progress } of this._running.values()) bits += progress().bits || 0;
    return bits;
  }

  sent(request: object, transfer: ObservedTransfer): void {
    this._running.set(request, { sentSeconds: pageSeconds(), ...transfer, bits: 0 });
  }

  /** Call this several times a second, and when bits have arrived. */
  poll(): void {
    for (const [request, running] of this._running) {
      const { isAborted, bits } = running.progress();
      const overdueSeconds = running.sentSeconds + SILENCE_SECONDS;
      if (isAborted) this.ended(request, 'abandoned');
      else if (bits !== running.bits) this._arrived(running, bits);
      else if (bits === 0 && !this._session.isLive && pageSeconds() > overdueSeconds)
        this._arrived(running, 0, overdueSeconds);
    }
  }

  /** `told` has the bits of the body if its progress did not tell them. */
  ended(request: object, outcome: Outcome, told?: number): void {
    const running = this._running.get(request);
    if (running === undefined) return;
    this._running.delete(request);
    const isWhole = outcome === 'whole';
    const video = running.video?.();
    const expectedBits = video ? video.bitrateBps * (video.endSeconds - video.startSeconds) : 0;
    const { bits: known, firstByteSeconds = pageSeconds() } = running.progress();
    // Without a measurement, the download takes its time at the latest throughput.
    const bits = told ?? known ?? Math.min(expectedBits, (pageSeconds() - firstByteSeconds) * this._rateBps);
    this._arrived(running, bits, firstByteSeconds);
    this._endedBits += bits;
    if (!video || outcome === 'failed') return;
    this.requestedBits += isWhole ? bits : Math.max(bits, expectedBits);
    if (!isWhole) {
      this.wastedBits += bits;
      return;
    }
    const { bitrateBps } = video;
    this.bitsByBitrate[bitrateBps] = (this.bitsByBitrate[bitrateBps] ?? 0) + bits;
    if (bitrateBps > 0) this._session.playback.buffered(video);
  }

  /** `bits` have arrived since `firstSeconds`. If the first bits' time is unknown, they count for the time after it. */
  private _arrived(
    running: Running,
    bits: number | undefined,
    firstSeconds = running.progress().firstByteSeconds,
  ): void {
    const nowSeconds = pageSeconds();
    const { sentSeconds, toldSeconds = firstSeconds ?? nowSeconds } = running;
    if (bits === undefined || nowSeconds - sentSeconds < CACHED_SECONDS) return;
    const fromSeconds = Math.max(toldSeconds, sentSeconds);
    running.toldSeconds = nowSeconds;
    if (nowSeconds <= fromSeconds) return;
    // If they are fewer than before, the player has repeated the request.
    const addedBits = Math.max(0, bits - running.bits);
    running.bits = bits;
    if (addedBits > 0) this._rateBps = addedBits / (nowSeconds - fromSeconds);
    this._session.link.delivered(fromSeconds, nowSeconds, addedBits);
  }
}
