/** The requests of a session: how many bits they asked for, and when these arrived. */

import { SILENCE_SECONDS } from '../../abr/forecast.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { Transfer, VideoSegment } from './observed-player.ts';

/** A response that was whole sooner came from a cache. */
const CACHED_SECONDS = 0.01;

interface Running {
  transfer: Transfer;
  sentSeconds: number;
  bits: number;
  /** When these were told; undefined before the first byte. */
  toldSeconds?: number;
}

export class Transfers {
  requestedBits = 0;
  wastedBits = 0;
  readonly #running = new Map<object, Running>();
  /** Of the newest bits, for downloads whose bits nobody tells. */
  #rateBps = 0;

  /** `delivered`: so many bits arrived in this time. `isLive`: a request may wait for the encoder. */
  constructor(
    private readonly delivered: (fromSeconds: number, toSeconds: number, bits: number) => void,
    private readonly isLive: () => boolean,
  ) {}

  sent(request: object, transfer: Transfer, sentSeconds: number): void {
    this.#running.set(request, { transfer, sentSeconds, bits: 0 });
  }

  /** Call it several times a second, and when bits have arrived. */
  poll(nowSeconds: number): void {
    for (const [request, running] of this.#running) {
      const { transfer, sentSeconds, toldSeconds } = running;
      const { isAborted, bits } = transfer.progress();
      const overdueSeconds = sentSeconds + SILENCE_SECONDS;
      if (isAborted) this.ended(request, 'abandoned', nowSeconds);
      else if (bits === undefined || nowSeconds - sentSeconds < CACHED_SECONDS) continue;
      else if (bits !== running.bits) this.#arrived(running, nowSeconds, bits);
      else if (bits === 0 && !this.isLive() && nowSeconds > overdueSeconds) {
        this.delivered(toldSeconds ?? overdueSeconds, nowSeconds, 0);
        running.toldSeconds = nowSeconds;
      }
    }
  }

  /** `told`: the bits of the body, where its progress does not tell them. Returns the video that has arrived. */
  ended(request: object, outcome: Outcome, nowSeconds: number, told?: number): VideoSegment | undefined {
    const running = this.#running.get(request);
    if (running === undefined) return undefined;
    this.#running.delete(request);
    const { sentSeconds, transfer } = running;
    const video = transfer.video?.();
    const expectedBits = video ? video.bitrateBps * video.durationSeconds : 0;
    const { bits: known, firstByteSeconds = nowSeconds } = transfer.progress();
    // Of a download that nobody measured, by the time and the latest throughput.
    const bits = told ?? known ?? Math.min(expectedBits, (nowSeconds - firstByteSeconds) * this.#rateBps);
    if (outcome !== 'whole' || nowSeconds - sentSeconds >= CACHED_SECONDS) this.#arrived(running, nowSeconds, bits);
    if (!video || outcome === 'failed') return undefined;
    this.requestedBits += outcome === 'whole' ? bits : Math.max(bits, expectedBits);
    if (outcome === 'whole') return video;
    this.wastedBits += bits;
    return undefined;
  }

  #arrived(running: Running, nowSeconds: number, bits: number): void {
    const { transfer, sentSeconds, toldSeconds = transfer.progress().firstByteSeconds ?? nowSeconds } = running;
    const fromSeconds = Math.max(toldSeconds, sentSeconds);
    running.toldSeconds = nowSeconds;
    // Where nobody tells when the first bits came, they count for the time that follows.
    if (nowSeconds <= fromSeconds) return;
    // Fewer than before: the player has begun the request again.
    const addedBits = Math.max(0, bits - running.bits);
    running.bits = bits;
    if (addedBits > 0) this.#rateBps = addedBits / (nowSeconds - fromSeconds);
    this.delivered(fromSeconds, nowSeconds, addedBits);
  }
}
