/** What one download shows of the link: it is reported to the meter, and its waits for a live encoder are told apart. */

import type { Download, InFlight } from '../../abr/controller.ts';
import type { LiveWaits } from './live-waits.ts';
import type { ObservationMeter } from './observation-meter.ts';

/** The known throughput is that of the newest downloads. */
const DOWNLOADS_OF_THROUGHPUT = 5;

/**
 * Players report bits 15 times a second and more; on demand a third of these is enough. Two are then 0.2 s apart, so the
 * meter, which waits for 0.15 s, may count bits up to 50 ms late.
 */
const MOST_LEFT_OUT = 2;

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

export interface LinkWatchOptions {
  /** Gets the bits of the download; absent without forecasters. */
  meter?: ObservationMeter | undefined;
  /** Those of a live segment for the encoder; absent on demand and for init segments. */
  waits?: LiveWaits | undefined;
  /** The throughput that is known now, in bit/s. */
  knownBps: () => number;
}

/** Of the download that makes it. Times are of the session's clock, in seconds. */
export class LinkWatch {
  readonly #meter: ObservationMeter | undefined;
  readonly #knownBps: () => number;
  /** Undefined on demand, and once the player has begun the download anew by itself. */
  #waits: LiveWaits | undefined;
  #isInChunks = false;
  /** Reports that were left out since the last one that counted. */
  #leftOut = MOST_LEFT_OUT;

  constructor(requestedAtSeconds: number, { meter, waits, knownBps }: LinkWatchOptions) {
    this.#meter = meter;
    this.#knownBps = knownBps;
    meter?.requestSent(requestedAtSeconds, this);
    this.#waits = waits;
    this.#waitForEncoder(requestedAtSeconds);
  }

  refused(atSeconds: number): void {
    if (!this.#waits) return;
    this.#waits.refused(atSeconds);
    this.#meter?.waits(this, atSeconds, atSeconds);
  }

  restarted(): void {
    this.#waits = undefined;
  }

  firstByte(atSeconds: number): void {
    this.#meter?.firstByte(this, atSeconds);
  }

  /** A report of bits comes; returns whether to skip it, because the next one has its bits, too. Never the first. */
  skipReport(): boolean {
    if (this.#waits || this.#leftOut === MOST_LEFT_OUT) this.#leftOut = 0;
    else this.#leftOut++;
    return this.#leftOut > 0;
  }

  /**
   * `bits` are new, `restBits` those whose time is not known yet, which include them. Returns whether the link had to
   * wait for the encoder until now.
   */
  received(atSeconds: number, bits: number, restBits: number, isFirst: boolean, chunks?: number): boolean {
    const meter = this.#meter;
    const sinceSeconds = bits > 0 || chunks! > 0 ? this.#waits?.received(atSeconds, bits, chunks) : undefined;
    this.#isInChunks ||= chunks !== undefined;
    if (sinceSeconds !== undefined) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - sinceSeconds) > this.#knownBps();
      meter?.resumed(this, atSeconds, sinceSeconds, isHigher ? bits : 0);
    } else if (isFirst) {
      meter?.firstByte(this, atSeconds);
    } else if (bits > 0) {
      const isInChunks = this.#waits !== undefined && this.#isInChunks;
      meter?.received(this, atSeconds, isInChunks ? bits : restBits);
    }
    if (this.#isInChunks) this.#waitForEncoder(atSeconds);
    return sinceSeconds !== undefined;
  }

  ended(atSeconds: number, outcome: string, { restBits, cameAtOnce }: { restBits: number; cameAtOnce: boolean }): void {
    // The player has abandoned the download after its first bits.
    if (outcome === 'abandoned' && restBits > 0) this.#meter?.received(this, atSeconds, restBits);
    this.#meter?.requestEnded(this, atSeconds, { cameAtOnce });
    this.#waits?.ended(atSeconds, outcome === 'whole');
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
  linkSeconds(downloadSeconds: number): number | undefined {
    return this.#waits ? this.#waits.linkSeconds(downloadSeconds, this.#knownBps()) : downloadSeconds;
  }

  #waitForEncoder(atSeconds: number): void {
    if (this.isWaiting(atSeconds)) this.#meter?.waits(this, atSeconds, this.#waits!.nextChunkAtSeconds);
  }
}
