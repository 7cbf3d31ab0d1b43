/** For tests: links whose first bits come faster than the rest. */

import type { PiecewisePath } from '../../abr/index.ts';
import { type FlightLink, Sender, SharedLink } from '../link/shared-link.ts';

interface Shape {
  /** What the link delivers in the long run, in bit/s. */
  rateBps: number;
  /** What it delivers while the bucket has tokens, in bit/s. */
  peakBps: number;
  /** Tokens of an idle link, in bits. */
  bucketBits: number;
}

/** A session's way to a link behind a token bucket, which fills at the link's rate; one download at a time. */
export class TokenBucket extends Sender {
  /** Tokens at a second of the session. */
  #level: { tokens: number; seconds: number };
  #isSending = false;

  constructor(private readonly shape: Shape) {
    super(new SharedLink(), 0);
    this.#level = { tokens: shape.bucketBits, seconds: 0 };
  }

  /** Of `link` only the latency counts. */
  override shareOf(link: PiecewisePath): FlightLink {
    const { rateBps, peakBps } = this.shape;
    const transferSeconds = (startSeconds: number, bits: number) => {
      const latencySeconds = link.transferSeconds(startSeconds, 0);
      const { tokens } = this.#begin(startSeconds + latencySeconds);
      return latencySeconds + Math.max(bits / peakBps, (bits - tokens) / rateBps);
    };
    return { cumulativeBits: (seconds) => this.#sent(seconds), transferSeconds, downloadSeconds: transferSeconds };
  }

  override end(nowSeconds: number): void {
    const { tokens, seconds } = this.#level;
    const left = tokens + this.shape.rateBps * (nowSeconds - seconds) - this.#sent(nowSeconds);
    this.#level = { tokens: Math.max(0, left), seconds: nowSeconds };
    this.#isSending = false;
    super.end(nowSeconds);
  }

  /** Nothing shares the link. */
  override divide(): void {}

  /** Bits from the first one of this flight on; the first call is for that moment. */
  #sent(atSeconds: number): number {
    const { rateBps, peakBps } = this.shape;
    const { tokens, seconds } = this.#begin(atSeconds);
    const elapsed = Math.max(0, atSeconds - seconds);
    return Math.min(peakBps * elapsed, tokens + rateBps * elapsed);
  }

  #begin(atSeconds: number) {
    if (this.#isSending) return this.#level;
    const { rateBps, bucketBits } = this.shape;
    const { tokens, seconds } = this.#level;
    this.#isSending = true;
    this.#level = { tokens: Math.min(bucketBits, tokens + rateBps * (atSeconds - seconds)), seconds: atSeconds };
    return this.#level;
  }
}
