/** The arrival of one request's bits on the replayed link. */

import type { FlightLink, LinkTransfer, SharedFlight } from '../../link/shared-link.ts';

const FIRST_BYTE_BITS = 8;

/** Times are of the session's clock; `link` begins at the session's second 0 and includes the request's RTT. */
export class Flight implements SharedFlight {
  endsAtSeconds = 0;
  firstByteAtSeconds = 0;
  private readonly _bitsBefore: number;

  constructor(
    private readonly _link: FlightLink,
    readonly requestedAtSeconds: number,
    readonly sizeBits: number,
    private readonly _latencySeconds: number,
    /** From the last byte to the page. */
    private readonly _responseSeconds: number,
  ) {
    this._bitsBefore = _link.cumulativeBits(requestedAtSeconds + _latencySeconds);
    this.project();
  }

  project(): void {
    const { _link: link, requestedAtSeconds, sizeBits } = this;
    const downloadSeconds = link.downloadSeconds(requestedAtSeconds, sizeBits);
    this.endsAtSeconds = requestedAtSeconds + (downloadSeconds + this._responseSeconds);
    this.firstByteAtSeconds =
      requestedAtSeconds + link.downloadSeconds(requestedAtSeconds, Math.min(FIRST_BYTE_BITS, sizeBits));
  }

  get transfers(): readonly LinkTransfer[] {
    const { _link: link, requestedAtSeconds, sizeBits } = this;
    const startSeconds = requestedAtSeconds + this._latencySeconds;
    return [{ startSeconds, endSeconds: requestedAtSeconds + link.downloadSeconds(requestedAtSeconds, sizeBits) }];
  }

  receivedBits(atSeconds: number): number {
    if (atSeconds < this.firstByteAtSeconds) return 0;
    if (atSeconds >= this.endsAtSeconds) return this.sizeBits;
    return Math.min(this.sizeBits, Math.max(0, this._link.cumulativeBits(atSeconds) - this._bitsBefore));
  }
}
