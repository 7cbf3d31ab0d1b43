/** One request of a session: its bits, its chunks, its times, and what it shows of the link's throughput. */

import type { Download, InFlight } from '../../abr/controller.ts';
import type { LiveWaits } from './live-waits.ts';
import type { ObservationMeter } from './observation-meter.ts';

/** The known throughput is that of the newest downloads. */
const DOWNLOADS_OF_THROUGHPUT = 5;

/** Throughput of the newest downloads in bit/s; 0 without any. */
export function knownBps(downloads: readonly Download[]): number {
  let bits = 0;
  let seconds = 0;
  for (const { receivedBits, downloadSeconds } of downloads.slice(-DOWNLOADS_OF_THROUGHPUT)) {
    bits += receivedBits;
    seconds += downloadSeconds;
  }
  return seconds > 0 ? bits / seconds : 0;
}

/** `abandoned`: the player gave the download up, to request the segment in another representation. */
export type Outcome = 'whole' | 'abandoned' | 'failed';

/** What has arrived of a body: the bits since the last report, or all so far. */
export interface Arrived {
  addedBits?: number;
  totalBits?: number;
  /** Size of the whole body, where the player knows it. */
  sizeBits?: number | undefined;
  /** Chunks of a live segment that have become whole; undefined if the body is not read in chunks. */
  chunks?: number | undefined;
}

export interface DownloadContext {
  /** Expected size of the response. Default 0: it does not matter. */
  sizeBits?: number;
  /** Gets the bits of the download; absent without forecasters. */
  meter?: ObservationMeter | undefined;
  /** Those of a live segment for the encoder; absent on demand and for init segments. */
  waits?: LiveWaits | undefined;
}

/** Times are of the session's clock, in seconds. */
export class SegmentDownload {
  readonly requestedAtSeconds: number;
  /** The expected size, until the size is known. */
  sizeBits: number;
  receivedBits = 0;
  firstByteAtSeconds: number | undefined;
  lastProgressAtSeconds: number | undefined;
  readonly #meter: ObservationMeter | undefined;
  /** Undefined on demand, and once the player has begun the download anew by itself. */
  #waits: LiveWaits | undefined;
  /** Bits reported to the meter. The first ones are reported late, because they may turn out to be all. */
  #meteredBits = 0;
  #isInChunks = false;

  constructor(requestedAtSeconds: number, { sizeBits = 0, meter, waits }: DownloadContext) {
    this.requestedAtSeconds = requestedAtSeconds;
    this.sizeBits = sizeBits;
    this.#meter = meter;
    meter?.requestSent(requestedAtSeconds, this);
    this.#waits = waits;
    this.#waitForEncoder(requestedAtSeconds);
  }

  /** The server answered that a live segment does not exist yet; the player asks again. */
  refused(atSeconds: number): void {
    if (!this.#waits || this.receivedBits > 0) return;
    this.#waits.refused(atSeconds);
    this.#meter?.waits(this, atSeconds, atSeconds);
  }

  /** The player has begun the request again by itself: the body comes again from its first byte. */
  restarted(): void {
    if (this.receivedBits === 0) return;
    this.receivedBits = 0;
    this.#meteredBits = 0;
    this.#waits = undefined;
  }

  /** The response has begun; its body has not. */
  responded(atSeconds: number, sizeBits: number | undefined): void {
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (this.firstByteAtSeconds !== undefined) return;
    this.#meter?.firstByte(this, atSeconds);
    this.firstByteAtSeconds = atSeconds;
    this.lastProgressAtSeconds = atSeconds;
  }

  /** More of the body has arrived. `knownBps`: the throughput that is known. */
  received(
    atSeconds: number,
    { addedBits = 0, totalBits = this.receivedBits + addedBits, sizeBits, chunks }: Arrived,
    knownBps: number,
  ): void {
    const meter = this.#meter;
    const bits = Math.max(0, totalBits - this.receivedBits);
    const sinceSeconds = bits > 0 || chunks! > 0 ? this.#waits?.received(atSeconds, bits, chunks) : undefined;
    this.receivedBits += bits;
    this.#isInChunks ||= chunks !== undefined;
    if (sinceSeconds !== undefined) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - sinceSeconds) > knownBps;
      meter?.resumed(this, atSeconds, sinceSeconds, isHigher ? bits : 0);
      this.#meteredBits = this.receivedBits;
    } else if (this.firstByteAtSeconds === undefined) {
      meter?.firstByte(this, atSeconds);
    } else if (bits > 0) {
      const isInChunks = this.#waits !== undefined && this.#isInChunks;
      meter?.received(this, atSeconds, isInChunks ? bits : this.receivedBits - this.#meteredBits);
      this.#meteredBits = this.receivedBits;
    }
    this.firstByteAtSeconds ??= atSeconds;
    if (bits > 0) this.lastProgressAtSeconds = atSeconds;
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (this.#isInChunks) this.#waitForEncoder(atSeconds);
  }

  /** The last bits have been reported before. If all bits came at once, the time of the first byte is not known. */
  ended(atSeconds: number, outcome: Outcome): void {
    const isAbandoned = outcome === 'abandoned';
    const cameAtOnce = !isAbandoned && this.#meteredBits === 0;
    const restBits = this.receivedBits - this.#meteredBits;
    // The player has abandoned the download after its first bits.
    if (isAbandoned && restBits > 0) this.#meter?.received(this, atSeconds, restBits);
    this.#meter?.requestEnded(this, atSeconds, { cameAtOnce });
    const isWhole = outcome === 'whole';
    this.#waits?.ended(atSeconds, isWhole);
    if (isWhole) this.sizeBits = this.receivedBits;
    if (cameAtOnce) this.firstByteAtSeconds = undefined;
  }

  /** Nothing more can arrive before the encoder has made the next chunk. */
  isWaiting(nowSeconds: number): boolean {
    return this.#waits !== undefined && this.#waits.nextChunkAtSeconds > nowSeconds;
  }

  /** The times of the request as if its media had existed when it was sent. */
  withoutWaits<T extends Pick<InFlight, 'requestedAtSeconds' | 'firstByteAtSeconds'>>(times: T, nowSeconds: number): T {
    return this.#waits?.withoutWaits(times, nowSeconds) ?? times;
  }

  /**
   * Duration of the finished download over the link alone, without waits for the encoder. Undefined if it does not show
   * the link's throughput.
   */
  linkSeconds(downloadSeconds: number, knownBps: number): number | undefined {
    return this.#waits ? this.#waits.linkSeconds(downloadSeconds, knownBps) : downloadSeconds;
  }

  #waitForEncoder(atSeconds: number): void {
    if (this.isWaiting(atSeconds)) this.#meter?.waits(this, atSeconds, this.#waits!.nextChunkAtSeconds);
  }
}
