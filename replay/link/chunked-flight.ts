/** One request whose response comes in chunks: a chunk arrives when it exists and the link has room. */

import type { FlightLink, LinkTransfer, SharedFlight } from './shared-link.ts';

const FIRST_BYTE_BITS = 8;

/** A chunk on the link. Between two chunks the link waited for the encoder. */
export interface ChunkTransfer extends LinkTransfer {
  bits: number;
}

export interface Chunk {
  existsAtSeconds: number;
  bits: number;
}

export interface ChunkedRequest {
  requestedAtSeconds: number;
  rttSeconds: number;
  sizeBits: number;
  /** In order; together `sizeBits`. */
  chunks: readonly Chunk[];
  /** Seconds from the last byte of a chunk of these bits to the page. Default: 0. */
  responseSeconds?(bits: number): number;
}

/** Times are of the session's clock; `link` begins at the session's second 0 and has no latency. */
export class ChunkedFlight implements SharedFlight {
  readonly requestedAtSeconds: number;
  readonly sizeBits: number;
  readonly transfers: readonly ChunkTransfer[];
  firstByteAtSeconds = 0;
  /** When the page has the last byte. */
  endsAtSeconds = 0;

  constructor(
    private readonly _link: FlightLink,
    private readonly _request: ChunkedRequest,
  ) {
    const { requestedAtSeconds, sizeBits, chunks } = _request;
    this.requestedAtSeconds = requestedAtSeconds;
    this.sizeBits = sizeBits;
    this.transfers = chunks.map(({ bits }) => ({ startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY, bits }));
    this.project(Number.NEGATIVE_INFINITY);
  }

  project(nowSeconds: number): void {
    const { _link: link, transfers, requestedAtSeconds } = this;
    const { rttSeconds, chunks, responseSeconds } = this._request;
    let freeAtSeconds = requestedAtSeconds + rttSeconds;
    for (let chunk = 0; chunk < transfers.length; chunk++) {
      const transfer = transfers[chunk]!;
      const { bits } = transfer;
      if (transfer.endSeconds > nowSeconds) {
        transfer.startSeconds = Math.max(freeAtSeconds, chunks[chunk]!.existsAtSeconds);
        transfer.endSeconds = transfer.startSeconds + link.downloadSeconds(transfer.startSeconds, bits);
      }
      freeAtSeconds = transfer.endSeconds;
    }
    const { startSeconds, bits } = transfers[0]!;
    this.firstByteAtSeconds = startSeconds + link.downloadSeconds(startSeconds, Math.min(FIRST_BYTE_BITS, bits));
    this.endsAtSeconds = freeAtSeconds + (responseSeconds?.(bits) ?? 0);
  }

  receivedBits(atSeconds: number): number {
    if (atSeconds < this.firstByteAtSeconds) return 0;
    if (atSeconds >= this.endsAtSeconds) return this.sizeBits;
    return this.deliveredBits(atSeconds);
  }

  /** Bits that have left the link. `receivedBits` adds the page's view of the first byte and the end. */
  deliveredBits(atSeconds: number): number {
    return this.transfers.reduce((sum, transfer) => sum + this.bitsOf(transfer, atSeconds), 0);
  }

  bitsOf({ startSeconds, endSeconds, bits }: ChunkTransfer, atSeconds: number): number {
    if (atSeconds >= endSeconds) return bits;
    if (atSeconds <= startSeconds) return 0;
    return Math.min(bits, this._link.cumulativeBits(atSeconds) - this._link.cumulativeBits(startSeconds));
  }
}
