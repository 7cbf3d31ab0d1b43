/**
 * A link that concurrent transfers, of one session or several, share equally (processor sharing). Exact and without a clock: the caller advances
 * its time. A single transfer takes exactly the path's `downloadSeconds`.
 */

import type { PiecewisePath } from '../../abr/index.ts';
import type { Traffic } from '../households.ts';

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
  /** Traffic leaves the link then. */
  leavesAtSeconds: number;
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
  private deliveredBits = 0;
  /** When a transfer last ended, and what the link had delivered by then. */
  private latestEnd = { seconds: 0, deliveredBits: 0 };

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
      leavesAtSeconds: Number.POSITIVE_INFINITY,
      releases: releases ?? [{ fromSeconds: startsAtSeconds, untilBits: sizeBits }],
      deliveredBits: 0,
      releaseEndsSeconds: [],
      endedAtSeconds: undefined,
    };
    this.transfers.add(transfer);
    return transfer;
  }

  /** Adds a download that nobody reads and that always has bits to send, from one second (>= now) to another. */
  addTraffic({ fromSeconds, toSeconds }: Omit<Traffic, 'weight'>): void {
    const transfer = this.add(Number.POSITIVE_INFINITY, fromSeconds) as Transfer;
    transfer.leavesAtSeconds = toSeconds;
  }

  remove(transfer: LinkTransfer): void {
    if (!this.transfers.delete(transfer as Transfer)) return;
    this.latestEnd = { seconds: this.nowSeconds, deliveredBits: this.deliveredBits };
  }

  /** Delivered bits / the link's bits, traffic included, until a transfer last ended; 0 before. */
  get utilisation(): number {
    const { seconds, deliveredBits } = this.latestEnd;
    const linkBits = this.path.cumulativeBits(seconds);
    return linkBits > 0 ? deliveredBits / linkBits : 0;
  }

  /** Advances time to `seconds`; transfers that end before leave the link. */
  advanceTo(seconds: number): void {
    while (this.nowSeconds < seconds) {
      const { active, untilSeconds } = this.interval(seconds);
      const bits = this.path.cumulativeBits(untilSeconds) - this.path.cumulativeBits(this.nowSeconds);
      this.nowSeconds = untilSeconds;
      if (active.length > 0) {
        const share = bits / active.length;
        this.deliveredBits += bits;
        for (const transfer of active) {
          transfer.deliveredBits += share;
          const { untilBits } = nextRelease(transfer);
          if (transfer.deliveredBits < untilBits - ROUNDING_BITS) continue;
          transfer.deliveredBits = untilBits;
          transfer.releaseEndsSeconds.push(untilSeconds);
          if (untilBits < transfer.sizeBits) continue;
          transfer.endedAtSeconds = untilSeconds;
          this.remove(transfer);
        }
      }
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
      if (transfer.leavesAtSeconds <= this.nowSeconds) {
        this.transfers.delete(transfer);
        continue;
      }
      const { fromSeconds, untilBits } = nextRelease(transfer);
      const startsAtSeconds = Math.max(fromSeconds, transfer.startsAtSeconds);
      if (startsAtSeconds > this.nowSeconds) {
        untilSeconds = Math.min(untilSeconds, startsAtSeconds);
        continue;
      }
      active.push(transfer);
      untilSeconds = Math.min(untilSeconds, transfer.leavesAtSeconds);
      leastBits = Math.min(leastBits, untilBits - transfer.deliveredBits);
    }
    if (leastBits < Number.POSITIVE_INFINITY) {
      const seconds = this.path.downloadSeconds(this.nowSeconds, Math.max(0, leastBits) * active.length);
      untilSeconds = Math.min(untilSeconds, this.nowSeconds + seconds);
    }
    return { active, untilSeconds };
  }
}

/** The part of a transfer that is delivered next. */
const nextRelease = ({ releases, releaseEndsSeconds }: Transfer): Release => releases[releaseEndsSeconds.length]!;
