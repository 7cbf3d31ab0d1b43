/**
 * A link that concurrent transfers share equally (processor sharing). Exact and without a clock: the caller advances
 * its time. A single transfer takes exactly the path's `downloadSeconds`.
 */

import type { PiecewisePath } from '../../abr/index.ts';

/** A part of a transfer that exists from a second on only, such as a chunk of a live segment. */
export interface Release {
  fromSeconds: number;
  /** The part ends here; it begins where the previous one ends. */
  untilBits: number;
}

export interface LinkTransfer {
  readonly sizeBits: number;
  /** From this second it shares the link, while a part that exists is not delivered. */
  readonly startsAtSeconds: number;
  readonly deliveredBits: number;
  /** Per delivered part, when its last bit arrived. */
  readonly releaseEndsSeconds: readonly number[];
  /** When its last bit arrived; undefined before. */
  readonly endedAtSeconds: number | undefined;
}

interface Transfer extends LinkTransfer {
  releases: readonly Release[];
  deliveredBits: number;
  releaseEndsSeconds: number[];
  endedAtSeconds: number | undefined;
}

/** Tolerance for rounding: at 1 Gbit/s, neighbouring floating-point seconds of a long session are 0.01 bit apart. */
const ROUNDING_BITS = 0.5;

export class SharedLink {
  nowSeconds = 0;
  private readonly path: PiecewisePath;
  private readonly transfers = new Set<Transfer>();

  /** `path` begins at the link's second 0; its request latency is ignored. */
  constructor(path: PiecewisePath) {
    this.path = path.from(0, 0);
  }

  get isIdle(): boolean {
    return this.transfers.size === 0;
  }

  /**
   * Adds a transfer that shares the link from `startsAtSeconds` (>= now) until it ends or is removed. `releases` (in
   * order, none empty, the last until `sizeBits`) default to one: all of it exists.
   */
  add(sizeBits: number, startsAtSeconds: number, releases?: readonly Release[]): LinkTransfer {
    const transfer: Transfer = {
      sizeBits,
      startsAtSeconds,
      releases: releases ?? [{ fromSeconds: startsAtSeconds, untilBits: sizeBits }],
      deliveredBits: 0,
      releaseEndsSeconds: [],
      endedAtSeconds: undefined,
    };
    this.transfers.add(transfer);
    return transfer;
  }

  remove(transfer: LinkTransfer): void {
    this.transfers.delete(transfer as Transfer);
  }

  /** Advances time to `seconds`; transfers that end before leave the link. */
  advanceTo(seconds: number): void {
    while (this.nowSeconds < seconds) {
      const { active, untilSeconds } = this.interval(seconds);
      if (active.length > 0) {
        const share =
          (this.path.cumulativeBits(untilSeconds) - this.path.cumulativeBits(this.nowSeconds)) / active.length;
        for (const transfer of active) {
          transfer.deliveredBits += share;
          const { untilBits } = nextRelease(transfer);
          if (transfer.deliveredBits < untilBits - ROUNDING_BITS) continue;
          transfer.deliveredBits = untilBits;
          transfer.releaseEndsSeconds.push(untilSeconds);
          if (untilBits < transfer.sizeBits) continue;
          transfer.endedAtSeconds = untilSeconds;
          this.transfers.delete(transfer);
        }
      }
      this.nowSeconds = untilSeconds;
    }
  }

  /** When the next part starts or ends, unless a transfer is added or removed before; `Infinity` on an idle link. */
  nextEventSeconds(): number {
    return this.interval(Number.POSITIVE_INFINITY).untilSeconds;
  }

  /** The transfers that share the link now, and until when this set stays the same, at most `limit`. */
  private interval(limit: number): { active: Transfer[]; untilSeconds: number } {
    const active: Transfer[] = [];
    let untilSeconds = limit;
    let leastBits = Number.POSITIVE_INFINITY;
    for (const transfer of this.transfers) {
      const { fromSeconds, untilBits } = nextRelease(transfer);
      const startsAtSeconds = Math.max(fromSeconds, transfer.startsAtSeconds);
      if (startsAtSeconds > this.nowSeconds) {
        untilSeconds = Math.min(untilSeconds, startsAtSeconds);
        continue;
      }
      active.push(transfer);
      leastBits = Math.min(leastBits, untilBits - transfer.deliveredBits);
    }
    if (active.length > 0) {
      const seconds = this.path.downloadSeconds(this.nowSeconds, Math.max(0, leastBits) * active.length);
      untilSeconds = Math.min(untilSeconds, this.nowSeconds + seconds);
    }
    return { active, untilSeconds };
  }
}

/** The part of a transfer that is delivered next. */
const nextRelease = ({ releases, releaseEndsSeconds }: Transfer): Release => releases[releaseEndsSeconds.length]!;
