/** The requests of a session: how many bits they asked for, and when these arrived. */

import { SILENCE_SECONDS } from '../../abr/forecast.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { LinkRecord } from './link.ts';
import type { Playback, VideoSegment } from './playback.ts';

/** A response that was whole sooner came from a cache. */
const CACHED_SECONDS = 0.01;

/** A request for audio or video that the player has sent. Seconds are of the page's clock. */
interface ObservedTransfer {
  /** Default: now. */
  sentSeconds?: number;
  /** As the player knows it at the moment; absent for audio. */
  video: (() => VideoSegment) | undefined;
  /** So far; `isAborted`: without an event. What the player does not tell is absent. */
  progress(): { bits?: number; isAborted?: boolean; firstByteSeconds?: number | undefined };
}

/** `toldSeconds`: when `bits` were told; undefined before the first byte. */
type Running = ObservedTransfer & { sentSeconds: number; bits: number; toldSeconds?: number };

/** The page's even clock. */
export const pageSeconds = () => performance.now() / 1000;

/** Each request is known by an object of the player's. */
export class Transfers {
  requestedBits = 0;
  wastedBits = 0;
  /** Bits of audio and video, whatever became of them. */
  receivedBits = 0;
  /** Bits of whole segments of video, by bitrate. */
  readonly bitsByBitrate: Record<number, number> = {};
  private readonly _running = new Map<object, Running>();
  /** The rate of the newest bits, for downloads that nobody measures. */
  private _rateBps = 0;

  /** `isLive`: a request may wait for the encoder. */
  constructor(private readonly _session: { isLive: boolean; playback: Playback; link: LinkRecord }) {}

  sent(request: object, transfer: ObservedTransfer): void {
    this._running.set(request, { sentSeconds: pageSeconds(), ...transfer, bits: 0 });
  }

  /** Call it several times a second, and when bits have arrived. */
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

  /** `told`: the bits of the body, where its progress does not tell them. */
  ended(request: object, outcome: Outcome, told?: number): void {
    const running = this._running.get(request);
    if (running === undefined) return;
    this._running.delete(request);
    const isWhole = outcome === 'whole';
    const video = running.video?.();
    const expectedBits = video ? video.bitrateBps * (video.endSeconds - video.startSeconds) : 0;
    const { bits: known, firstByteSeconds = pageSeconds() } = running.progress();
    // If nobody measured the download, its time at the latest throughput.
    const bits = told ?? known ?? Math.min(expectedBits, (pageSeconds() - firstByteSeconds) * this._rateBps);
    this._arrived(running, bits, firstByteSeconds);
    this.receivedBits += bits;
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

  /** `bits` have come since `firstSeconds`. If nobody knows when the first bits came, they count for the time that follows. */
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
    // Fewer than before: the player has begun the request again.
    const addedBits = Math.max(0, bits - running.bits);
    running.bits = bits;
    if (addedBits > 0) this._rateBps = addedBits / (nowSeconds - fromSeconds);
    this._session.link.delivered(fromSeconds, nowSeconds, addedBits);
  }
}
