/** One request of a session: its bits and its times. What it shows of the link, its `LinkWatch` knows. */

import type { LinkWatch } from './link-watch.ts';

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
  link: LinkWatch;
}

/** Times are of the session's clock, in seconds. */
export class SegmentDownload {
  /** The expected size, until the size is known. */
  sizeBits: number;
  receivedBits = 0;
  firstByteAtSeconds: number | undefined;
  lastProgressAtSeconds: number | undefined;
  readonly link: LinkWatch;
  /** Bits whose time is known. The first ones may turn out to be all. */
  #timedBits = 0;

  constructor(
    readonly requestedAtSeconds: number,
    { sizeBits = 0, link }: DownloadContext,
  ) {
    this.sizeBits = sizeBits;
    this.link = link;
  }

  /** The server answered that a live segment does not exist yet; the player asks again. */
  refused(atSeconds: number): void {
    if (this.receivedBits === 0) this.link.refused(atSeconds);
  }

  /** The player has begun the request again by itself: the body comes again from its first byte. */
  restarted(): void {
    if (this.receivedBits === 0) return;
    this.receivedBits = 0;
    this.#timedBits = 0;
    this.link.restarted();
  }

  /** The response has begun; its body has not. */
  responded(atSeconds: number, sizeBits: number | undefined): void {
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (this.firstByteAtSeconds !== undefined) return;
    this.link.firstByte(atSeconds);
    this.firstByteAtSeconds = atSeconds;
    this.lastProgressAtSeconds = atSeconds;
  }

  /** More of the body has arrived. */
  received(
    atSeconds: number,
    { addedBits = 0, totalBits = this.receivedBits + addedBits, sizeBits, chunks }: Arrived,
  ): void {
    const bits = Math.max(0, totalBits - this.receivedBits);
    const isFirst = this.firstByteAtSeconds === undefined;
    this.receivedBits += bits;
    const restBits = this.receivedBits - this.#timedBits;
    const isTimed = this.link.received(atSeconds, bits, restBits, isFirst, chunks);
    if (isTimed || (!isFirst && bits > 0)) this.#timedBits = this.receivedBits;
    this.firstByteAtSeconds ??= atSeconds;
    if (bits > 0) this.lastProgressAtSeconds = atSeconds;
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
  }

  /** The last bits have been reported before. If all bits came at once, the time of the first byte is not known. */
  ended(atSeconds: number, outcome: Outcome): void {
    const cameAtOnce = outcome !== 'abandoned' && this.#timedBits === 0;
    this.link.ended(atSeconds, outcome, { restBits: this.receivedBits - this.#timedBits, cameAtOnce });
    if (outcome === 'whole') this.sizeBits = this.receivedBits;
    if (cameAtOnce) this.firstByteAtSeconds = undefined;
  }
}
