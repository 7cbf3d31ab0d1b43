/**
 * A link that several transfers share equally at each moment (processor sharing), exact and without a clock: it is told
 * how far time has come. One transfer alone gets precisely the link's `downloadSeconds`.
 */

import type { PiecewisePath } from '../../abr/index.ts';

export interface LinkTransfer {
  readonly sizeBits: number;
  /** Second at which it begins to take part. */
  readonly startsAtSeconds: number;
  /** Bits delivered until the moment that the link was advanced to. */
  readonly deliveredBits: number;
  /** When its last bit came; undefined before. */
  readonly endedAtSeconds: number | undefined;
}

interface Transfer extends LinkTransfer {
  deliveredBits: number;
  endedAtSeconds: number | undefined;
}

/** Less than this is rounding: at 1 Gbit/s, seconds late in a long session are about 0.01 bit apart. */
const ROUNDING_BITS = 0.5;

export class SharedLink {
  /** How far the link was advanced. */
  nowSeconds = 0;
  private readonly path: PiecewisePath;
  private readonly transfers = new Set<Transfer>();

  /** `path` counts from the link's second 0; its request latency is not used. */
  constructor(path: PiecewisePath) {
    this.path = path.from(0, 0);
  }

  get isIdle(): boolean {
    return this.transfers.size === 0;
  }

  /** Takes part from `startsAtSeconds` (>= now) on until its end or its removal. */
  add(sizeBits: number, startsAtSeconds: number): LinkTransfer {
    const transfer: Transfer = { sizeBits, startsAtSeconds, deliveredBits: 0, endedAtSeconds: undefined };
    this.transfers.add(transfer);
    return transfer;
  }

  /** Leaves its share to the others from now on. */
  remove(transfer: LinkTransfer): void {
    this.transfers.delete(transfer as Transfer);
  }

  /** Moves time on to `seconds`; transfers that end on the way leave the link. */
  advanceTo(seconds: number): void {
    while (this.nowSeconds < seconds) {
      const { active, untilSeconds } = this.interval(seconds);
      if (active.length > 0) {
        const share =
          (this.path.cumulativeBits(untilSeconds) - this.path.cumulativeBits(this.nowSeconds)) / active.length;
        for (const transfer of active) {
          transfer.deliveredBits += share;
          if (transfer.deliveredBits < transfer.sizeBits - ROUNDING_BITS) continue;
          transfer.deliveredBits = transfer.sizeBits;
          transfer.endedAtSeconds = untilSeconds;
          this.transfers.delete(transfer);
        }
      }
      this.nowSeconds = untilSeconds;
    }
  }

  /** When the next transfer starts or ends, if none is added or removed before; `Infinity` on an idle link. */
  nextEventSeconds(): number {
    return this.interval(Number.POSITIVE_INFINITY).untilSeconds;
  }

  /** The transfers that share the link now, and how long these and no others will, at most until `limit`. */
  private interval(limit: number): { active: Transfer[]; untilSeconds: number } {
    const active: Transfer[] = [];
    let untilSeconds = limit;
    let leastBits = Number.POSITIVE_INFINITY;
    for (const transfer of this.transfers) {
      if (transfer.startsAtSeconds > this.nowSeconds) {
        untilSeconds = Math.min(untilSeconds, transfer.startsAtSeconds);
        continue;
      }
      active.push(transfer);
      leastBits = Math.min(leastBits, transfer.sizeBits - transfer.deliveredBits);
    }
    if (active.length > 0) {
      const seconds = this.path.downloadSeconds(this.nowSeconds, Math.max(0, leastBits) * active.length);
      untilSeconds = Math.min(untilSeconds, this.nowSeconds + seconds);
    }
    return { active, untilSeconds };
  }
}
