/** A request of a session: its bits, its times, and what they show of the link. */

import type { Download, InFlight } from '../../abr/controller.ts';
import type { LiveWaits } from './live-waits.ts';
import type { ObservationMeter } from './observation-meter.ts';

/** `abandoned`: the player requests the segment in another representation instead. */
export type Outcome = 'whole' | 'abandoned' | 'failed';

/** The arrived part of a body. */
export interface Arrived {
  /** Bits since the last report. Alternative: `totalBits`. */
  addedBits?: number;
  totalBits?: number;
  /** Size of the whole body, if known. */
  sizeBits?: number | undefined;
  /** Chunks of a live segment that have become whole; undefined if the body is not read in chunks. */
  chunks?: number | undefined;
}

export interface DownloadContext {
  /** Expected size of the response. Default 0: unknown. */
  sizeBits?: number;
  link: LinkWatch;
}

/** Times are of the session's clock, in seconds. */
export class SegmentDownload {
  /** The expected size until the size is known. */
  sizeBits: number;
  receivedBits = 0;
  firstByteAtSeconds: number | undefined;
  lastProgressAtSeconds: number | undefined;
  readonly link: LinkWatch;
  /** Seconds until the first attempt that was answered. */
  unansweredSeconds = 0;
  /** Bits whose time is known. The time of the first bits is unknown if they turn out to be all. */
  private _timedBits = 0;

  constructor(
    readonly requestedAtSeconds: number,
    { sizeBits = 0, link }: DownloadContext,
  ) {
    this.sizeBits = sizeBits;
    this.link = link;
  }

  /** The server answered that a live segment does not exist yet. The player asks again. */
  refused(atSeconds: number): void {
    if (this.receivedBits === 0) this.link.refused(atSeconds);
  }

  /** The player has begun the request again, so the body comes again from its first byte. */
  restarted(atSeconds: number): void {
    if (this.firstByteAtSeconds === undefined) this.unansweredSeconds = atSeconds - this.requestedAtSeconds;
    if (this.receivedBits === 0) return;
    this.receivedBits = 0;
    this._timedBits = 0;
    if (this.link.restarted(atSeconds)) this.firstByteAtSeconds = undefined;
  }

  responded(atSeconds: number, sizeBits: number | undefined): void {
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (this.firstByteAtSeconds !== undefined) return;
    this.link.firstByte(atSeconds);
    this.firstByteAtSeconds = atSeconds;
    this.lastProgressAtSeconds = atSeconds;
  }

  received(
    atSeconds: number,
    { addedBits = 0, totalBits = this.receivedBits + addedBits, sizeBits, chunks }: Arrived,
  ): void {
    const bits = Math.max(0, totalBits - this.receivedBits);
    const isFirst = this.firstByteAtSeconds === undefined;
    this.receivedBits += bits;
    const restBits = this.receivedBits - this._timedBits;
    const isTimed = this.link.received(atSeconds, bits, restBits, isFirst, chunks);
    if (isTimed || (!isFirst && bits > 0)) this._timedBits = this.receivedBits;
    if (isFirst) this.firstByteAtSeconds = atSeconds;
    if (bits > 0) this.lastProgressAtSeconds = atSeconds;
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
  }

  /**
   * Call `received` with the last bits before. If all bits came at once, the time of the first byte is unknown.
   * `mayBeCached`: nothing of it shows the link.
   */
  ended(atSeconds: number, outcome: Outcome, mayBeCached = false): void {
    const cameAtOnce = outcome !== 'abandoned' && this._timedBits === 0;
    const restBits = this.receivedBits - this._timedBits;
    this.link.ended(atSeconds, outcome, { restBits, isUnknown: cameAtOnce || mayBeCached });
    if (outcome === 'whole') this.sizeBits = this.receivedBits;
    if (cameAtOnce) this.firstByteAtSeconds = undefined;
  }
}

/** Newest downloads in the known throughput. */
const DOWNLOADS_OF_THROUGHPUT = 5;

/** Players report bits 15 times a second and more. On demand each sixth report, 0.4 s apart, is enough. */
const MOST_LEFT_OUT = 5;

/** Throughput of the newest downloads in bit/s; 0 without downloads. */
export function knownBps(downloads: readonly Download[]): number {
  let bits = 0;
  let seconds = 0;
  for (const { receivedBits, downloadSeconds } of downloads.slice(-DOWNLOADS_OF_THROUGHPUT)) {
    bits += receivedBits;
    seconds += downloadSeconds;
  }
  return seconds > 0 ? bits / seconds : 0;
}

export interface LinkWatchOptions {
  /** Absent without forecasters. */
  meter?: ObservationMeter | undefined;
  /** Usual seconds until the first byte, if the origin is slow. Default 0: a wait is the link's. */
  expectedSeconds?: number;
  /** Waits of a live segment for the encoder; absent on demand and for init segments. */
  waits?: LiveWaits | undefined;
  /** The present `knownBps`. */
  knownBps: () => number;
}

/** Observes the link during one download. Times are seconds of the session's clock. */
export class LinkWatch {
  private readonly _meter: ObservationMeter | undefined;
  private readonly _knownBps: () => number;
  /** Undefined on demand. */
  private readonly _waits: LiveWaits | undefined;
  private _isInChunks = false;
  /** Skipped reports since the last report that counted. */
  private _leftOut = MOST_LEFT_OUT;

  constructor(requestedAtSeconds: number, { meter, expectedSeconds, waits, knownBps }: LinkWatchOptions) {
    this._meter = meter;
    this._knownBps = knownBps;
    meter?.requestSent(requestedAtSeconds, this, expectedSeconds);
    this._waits = waits;
    this._waitForEncoder(requestedAtSeconds);
  }

  refused(atSeconds: number): void {
    if (!this._waits) return;
    this._waits.refused(atSeconds);
    if (this._meter) this._meter.waits(this, atSeconds, atSeconds);
  }

  /** Returns whether the request is for a live segment and counts as sent again. */
  restarted(atSeconds: number): boolean {
    if (!this._waits) return false;
    this._waits.restarted(atSeconds);
    if (this._meter) this._meter.waits(this, atSeconds, atSeconds);
    return true;
  }

  firstByte(atSeconds: number): void {
    if (this._meter) this._meter.firstByte(this, atSeconds);
  }

  /** Returns whether to skip a report of bits, because the next report has its bits, too. Never skips the first report. */
  skipReport(): boolean {
    if (this._waits || this._leftOut === MOST_LEFT_OUT) this._leftOut = 0;
    else this._leftOut++;
    return this._leftOut > 0;
  }

  /**
   * `restBits`: the bits without a known time, including the new `bits`. Returns whether the link had to wait for the
   * encoder until now.
   */
  received(atSeconds: number, bits: number, restBits: number, isFirst: boolean, chunks?: number): boolean {
    const meter = this._meter;
    const sinceSeconds =
      this._waits && (bits > 0 || chunks! > 0) ? this._waits.received(atSeconds, bits, chunks) : undefined;
    this._isInChunks ||= chunks !== undefined;
    if (sinceSeconds !== undefined) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - sinceSeconds) > this._knownBps();
      meter?.resumed(this, atSeconds, sinceSeconds, isHigher ? bits : 0);
    } else if (isFirst) {
      meter?.firstByte(this, atSeconds);
    } else if (bits > 0) {
      const isInChunks = this._waits !== undefined && this._isInChunks;
      meter?.received(this, atSeconds, isInChunks ? bits : restBits);
    }
    if (this._isInChunks) this._waitForEncoder(atSeconds);
    return sinceSeconds !== undefined;
  }

  ended(atSeconds: number, outcome: string, { restBits, isUnknown }: { restBits: number; isUnknown: boolean }): void {
    // The download was abandoned after its first bits.
    if (outcome === 'abandoned' && restBits > 0 && this._meter) this._meter.received(this, atSeconds, restBits);
    if (this._meter) this._meter.requestEnded(this, atSeconds, { isUnknown });
    if (this._waits) this._waits.ended(atSeconds, outcome === 'whole');
  }

  /** Whether nothing more can arrive before the encoder has made the next chunk. */
  isWaiting(nowSeconds: number): boolean {
    return this._waits !== undefined && this._waits.nextChunkAtSeconds > nowSeconds;
  }

  /** See `LiveWaits.withoutWaits`. */
  withoutWaits<T extends Pick<InFlight, 'requestedAtSeconds' | 'firstByteAtSeconds' | 'recent'>>(
    times: T,
    nowSeconds: number,
  ): T {
    return this._waits ? this._waits.withoutWaits(times, nowSeconds) : times;
  }

  /** Duration of the finished download without waits for the encoder; undefined if it does not show the link's throughput. */
  linkSeconds(downloadSeconds: number): number | undefined {
    return this._waits ? this._waits.linkSeconds(downloadSeconds, this._knownBps()) : downloadSeconds;
  }

  private _waitForEncoder(atSeconds: number): void {
    if (this._meter && this.isWaiting(atSeconds)) this._meter.waits(this, atSeconds, this._waits!.nextChunkAtSeconds);
  }
}
