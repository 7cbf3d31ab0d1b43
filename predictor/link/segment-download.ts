/** One request of a session: its bits, its chunks, its times, and what it shows of the link's throughput. */

import type { Download, InFlight } from '../../abr/controller.ts';
import { type LiveEdge, type LiveSegment, LiveWaits } from './live-waits.ts';
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

/** The body of a response so far. */
export interface Progress {
  receivedBits: number;
  /** Size of the whole body, where the player knows it. */
  sizeBits?: number | undefined;
  /** Whole chunks of a live segment; undefined if the body is not read in chunks. */
  chunks?: number | undefined;
}

export interface DownloadContext {
  /** Expected size of the response. Default 0: it does not matter. */
  sizeBits?: number;
  /** Gets the bits of the download; absent without forecasters. */
  meter?: ObservationMeter | undefined;
  /** The segment's chunks and what is known of the stream's edge; absent on demand and for init segments. */
  live?: { edge: LiveEdge; segment: LiveSegment } | undefined;
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
  /** Whole chunks. */
  #chunks = 0;

  constructor(requestedAtSeconds: number, { sizeBits = 0, meter, live }: DownloadContext) {
    this.requestedAtSeconds = requestedAtSeconds;
    this.sizeBits = sizeBits;
    this.#meter = meter;
    meter?.requestSent(requestedAtSeconds, this);
    this.#waits = live && new LiveWaits(live.edge, live.segment, requestedAtSeconds);
    this.#waitForEncoder(requestedAtSeconds);
  }

  /** The server answered that a live segment does not exist yet; the player asks again. */
  refused(atSeconds: number): void {
    if (!this.#waits || this.receivedBits > 0) return;
    this.#waits.refused(atSeconds);
    this.#meter?.waits(this, atSeconds, atSeconds);
  }

  /** More of the body has arrived. `knownBps`: the throughput that is known. */
  progressed(atSeconds: number, { receivedBits, sizeBits, chunks }: Progress, knownBps: number): void {
    const meter = this.#meter;
    const bits = receivedBits - this.receivedBits;
    // The player's own retry starts again at the first byte.
    if (bits < 0) {
      this.#meteredBits = 0;
      this.#waits = undefined;
    }
    const newChunks = chunks && chunks - this.#chunks;
    const arrival = bits > 0 || newChunks! > 0 ? this.#waits?.received(atSeconds, bits, newChunks) : undefined;
    if (arrival?.isBound) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - arrival.sinceSeconds) > knownBps;
      meter?.resumed(this, atSeconds, arrival.sinceSeconds, isHigher ? bits : 0);
      this.#meteredBits = receivedBits;
    } else if (this.receivedBits === 0) {
      meter?.firstByte(this, atSeconds);
    } else if (bits !== 0) {
      const isInChunks = this.#waits !== undefined && chunks !== undefined;
      meter?.received(this, atSeconds, isInChunks ? bits : receivedBits - this.#meteredBits);
      this.#meteredBits = receivedBits;
    }
    this.firstByteAtSeconds ??= atSeconds;
    if (bits > 0) this.lastProgressAtSeconds = atSeconds;
    this.receivedBits = receivedBits;
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (chunks === undefined) return;
    this.#chunks = chunks;
    this.#waitForEncoder(atSeconds);
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
