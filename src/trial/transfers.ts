/** The requests of a session: how many bits they asked for, and when these arrived. */

import { SILENCE_SECONDS } from '../../abr/forecast.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { LinkRecord } from './link.ts';

/** A response that was whole sooner came from a cache. */
const CACHED_SECONDS = 0.01;

/** A request for audio or video that the player has sent. */
export interface Transfer {
  isVideo: boolean;
  /** Bits of the body so far; undefined where the player tells them with the end only. */
  receivedBits(): number | undefined;
  /** Of the whole body; by the bitrate until it is known. */
  sizeBits(): number;
  /** The player has given it up without an event. */
  isAborted?(): boolean;
  /** Arrival of the first byte on the page's clock, once the player tells it. */
  firstByteSeconds?(): number | undefined;
}

interface Running {
  transfer: Transfer;
  sentSeconds: number;
  /** The arrival of `bits` is recorded until then; undefined before the first byte. */
  recordedSeconds: number | undefined;
  bits: number;
}

/** Times are of the page's clock. */
export class Transfers {
  /** By any object that stands for the request. */
  readonly #running = new Map<object, Running>();
  requestedBits = 0;
  wastedBits = 0;
  /** Of the newest bits, for downloads whose bits nobody tells. */
  #rateBps = 0;

  /** `beganSeconds`: second 0 of the link's record. `isLive`: a request may wait for the encoder. */
  constructor(
    private readonly link: LinkRecord,
    private readonly beganSeconds: number,
    private readonly isLive: () => boolean,
  ) {}

  sent(request: object, transfer: Transfer, sentSeconds: number): void {
    this.#running.set(request, { transfer, sentSeconds, recordedSeconds: undefined, bits: 0 });
  }

  /** Call it several times a second, and when bits have arrived. */
  poll(nowSeconds: number): void {
    for (const [request, running] of this.#running) {
      if (running.transfer.isAborted?.()) this.ended(request, 'abandoned', nowSeconds);
      else this.#poll(running, nowSeconds);
    }
  }

  /** `receivedBits`: of the body, where the player tells them with the end. */
  ended(request: object, outcome: Outcome, nowSeconds: number, receivedBits?: number): void {
    const running = this.#running.get(request);
    if (running === undefined) return;
    this.#running.delete(request);
    const { transfer, sentSeconds } = running;
    const isCached = outcome === 'whole' && nowSeconds - sentSeconds < CACHED_SECONDS;
    const bits = receivedBits ?? transfer.receivedBits() ?? this.#guessBits(running, nowSeconds);
    if (!isCached) this.#record(running, nowSeconds, bits);
    if (!transfer.isVideo || outcome === 'failed') return;
    const sizeBits = outcome === 'whole' ? bits : Math.max(bits, transfer.sizeBits());
    this.requestedBits += sizeBits;
    if (outcome === 'abandoned') this.wastedBits += bits;
  }

  #poll(running: Running, nowSeconds: number): void {
    const { transfer, sentSeconds, recordedSeconds } = running;
    const bits = transfer.receivedBits();
    if (bits === undefined || nowSeconds - sentSeconds < CACHED_SECONDS) return;
    const overdueSeconds = sentSeconds + SILENCE_SECONDS;
    // The player has begun the request again.
    if (bits < running.bits) running.bits = bits;
    if (bits > 0) this.#record(running, nowSeconds, bits);
    else if (!this.isLive() && nowSeconds > overdueSeconds) {
      this.#deliver(recordedSeconds ?? overdueSeconds, nowSeconds, 0);
      running.recordedSeconds = nowSeconds;
    }
  }

  #record(running: Running, nowSeconds: number, bits: number): void {
    const { transfer, sentSeconds } = running;
    const since = running.recordedSeconds ?? transfer.firstByteSeconds?.();
    // The first bits are those of the time that follows, where nobody tells when they came.
    if (since !== undefined) {
      this.#deliver(Math.max(since, sentSeconds), nowSeconds, bits - running.bits);
      running.bits = bits;
    }
    running.recordedSeconds = nowSeconds;
  }

  #deliver(fromSeconds: number, toSeconds: number, bits: number): void {
    if (bits > 0 && toSeconds > fromSeconds) this.#rateBps = bits / (toSeconds - fromSeconds);
    this.link.delivered(fromSeconds - this.beganSeconds, toSeconds - this.beganSeconds, bits);
  }

  /** What has arrived of an abandoned download, if the player does not tell: by the time and the latest throughput. */
  #guessBits({ transfer }: Running, nowSeconds: number): number {
    const seconds = nowSeconds - (transfer.firstByteSeconds?.() ?? nowSeconds);
    return Math.min(transfer.sizeBits(), seconds * this.#rateBps);
  }
}
