/** A link that several flights share: it is divided by weight among those that have bits to send. */

import type { PiecewisePath } from '../../abr/index.ts';

/** The link as a flight sees it; seconds of the session's clock. */
export type FlightLink = Pick<PiecewisePath, 'cumulativeBits' | 'downloadSeconds' | 'transferSeconds'>;

/** From the first bit on the link to the last. */
export interface Transfer {
  startSeconds: number;
  endSeconds: number;
}

/** A flight; what is later than now holds as long as the others keep sending, or keep silent. */
export interface SharedFlight {
  readonly endsAtSeconds: number;
  readonly transfers: readonly Transfer[];
  receivedBits(atSeconds: number): number;
  /** Computes anew what is later than `nowSeconds`, after a change of the link. */
  project(nowSeconds: number): void;
}

/** A player's way to the link; one flight at a time. */
export interface LinkAccess {
  begin<F extends SharedFlight>(link: PiecewisePath, fly: (link: FlightLink) => F): F;
  /** The flight is complete or abandoned; `nowSeconds` of the session's clock. */
  end(nowSeconds: number): void;
}

interface SharePiece {
  linkBits: number;
  bits: number;
  divisor: number;
}

/** One flight's share: the link, with its bits divided by a divisor that changes. */
class Share implements FlightLink {
  /** In each piece, bits = piece's bits + (link's bits - piece's link bits) / divisor. None: the whole link. */
  private readonly pieces: SharePiece[] = [];

  constructor(private readonly link: PiecewisePath) {}

  /** From `atSeconds` on; false if it was so before. */
  divide(atSeconds: number, divisor: number): boolean {
    if (divisor === (this.pieces.at(-1)?.divisor ?? 1)) return false;
    const linkBits = this.link.cumulativeBits(atSeconds);
    this.pieces.push({ linkBits, bits: this.bitsAt(linkBits), divisor });
    return true;
  }

  cumulativeBits(seconds: number): number {
    return this.bitsAt(this.link.cumulativeBits(seconds));
  }

  transferSeconds(startSeconds: number, sizeBits: number): number {
    const { link, pieces } = this;
    if (pieces.length === 0) return link.transferSeconds(startSeconds, sizeBits);
    const latencySeconds = link.transferSeconds(startSeconds, 0);
    const before = link.cumulativeBits(startSeconds + latencySeconds);
    const until = this.bitsAt(before) + sizeBits;
    const piece = this.lastPiece('bits', until);
    const linkBits = piece === undefined ? until : piece.linkBits + (until - piece.bits) * piece.divisor;
    return link.transferSeconds(startSeconds, linkBits - before);
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    const { link, pieces } = this;
    const seconds = link.downloadSeconds(startSeconds, sizeBits);
    if (pieces.length === 0) return seconds;
    const responseSeconds = seconds - link.transferSeconds(startSeconds, sizeBits);
    return this.transferSeconds(startSeconds, sizeBits) + responseSeconds;
  }

  private bitsAt(linkBits: number): number {
    const piece = this.lastPiece('linkBits', linkBits);
    return piece === undefined ? linkBits : piece.bits + (linkBits - piece.linkBits) / piece.divisor;
  }

  private lastPiece(of: 'linkBits' | 'bits', until: number): SharePiece | undefined {
    let i = this.pieces.length - 1;
    while (i >= 0 && this.pieces[i]![of] > until) i--;
    return this.pieces[i];
  }
}

interface Sender {
  flight: SharedFlight;
  share: Share;
  weight: number;
  /** The link's clock less the flight's. */
  offsetSeconds: number;
  isSending: boolean;
}

/** Second 0 of its clock is the household's first request. */
export class SharedLink {
  nowSeconds = 0;
  /** Of ended flights. */
  receivedBits = 0;
  private readonly senders = new Set<Sender>();

  /** A player whose session begins at `offsetSeconds`. */
  access({ offsetSeconds, weight }: { offsetSeconds: number; weight: number }): PlayerAccess {
    return new PlayerAccess(this, offsetSeconds, weight);
  }

  add(sender: Omit<Sender, 'isSending'>): Sender {
    const added = { ...sender, isSending: false };
    this.senders.add(added);
    this.settle();
    return added;
  }

  /** Takes a flight off the link; `atSeconds` of its own clock. */
  remove(sender: Sender, atSeconds: number): void {
    this.receivedBits += sender.flight.receivedBits(atSeconds);
    this.senders.delete(sender);
    this.settle();
  }

  /** When a flight next begins or ends to send. */
  nextChangeSeconds(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { flight, offsetSeconds } of this.senders) {
      for (const { startSeconds, endSeconds } of flight.transfers) {
        for (const seconds of [startSeconds + offsetSeconds, endSeconds + offsetSeconds]) {
          if (seconds > this.nowSeconds && seconds < next) next = seconds;
        }
      }
    }
    return next;
  }

  advanceTo(seconds: number): void {
    for (let next = this.nextChangeSeconds(); next <= seconds; next = this.nextChangeSeconds()) {
      this.nowSeconds = next;
      this.settle();
    }
    this.nowSeconds = Math.max(this.nowSeconds, seconds);
  }

  /** Divides the link among those that send now. */
  private settle(): void {
    const { nowSeconds } = this;
    let weights = 0;
    for (const sender of this.senders) {
      const { flight, offsetSeconds, weight } = sender;
      sender.isSending = flight.transfers.some(
        ({ startSeconds, endSeconds }) =>
          startSeconds + offsetSeconds <= nowSeconds && nowSeconds < endSeconds + offsetSeconds,
      );
      if (sender.isSending) weights += weight;
    }
    for (const { flight, share, weight, offsetSeconds, isSending } of this.senders) {
      const atSeconds = nowSeconds - offsetSeconds;
      if (isSending && share.divide(atSeconds, weights / weight)) flight.project(atSeconds);
    }
  }
}

class PlayerAccess implements LinkAccess {
  private sender: Sender | undefined;

  constructor(
    private readonly shared: SharedLink,
    readonly offsetSeconds: number,
    private readonly weight: number,
  ) {}

  /** On the link's clock; `Infinity` without a flight. */
  get flightEndsAtSeconds(): number {
    return this.sender === undefined ? Number.POSITIVE_INFINITY : this.offsetSeconds + this.sender.flight.endsAtSeconds;
  }

  begin<F extends SharedFlight>(link: PiecewisePath, fly: (link: FlightLink) => F): F {
    const { weight, offsetSeconds } = this;
    const share = new Share(link);
    const flight = fly(share);
    this.sender = this.shared.add({ flight, share, weight, offsetSeconds });
    return flight;
  }

  end(nowSeconds: number): void {
    if (this.sender !== undefined) this.shared.remove(this.sender, nowSeconds);
    this.sender = undefined;
  }
}

/** A download that always has bits to send, from one second to another of the link's clock. */
export function addTraffic(
  shared: SharedLink,
  link: PiecewisePath,
  { fromSeconds, toSeconds, weight }: { fromSeconds: number; toSeconds: number; weight: number },
): { end(nowSeconds: number): void } {
  const share = new Share(link);
  const bits = (seconds: number) => share.cumulativeBits(Math.max(fromSeconds, Math.min(seconds, toSeconds)));
  const sender = shared.add({
    flight: {
      endsAtSeconds: toSeconds,
      transfers: [{ startSeconds: fromSeconds, endSeconds: toSeconds }],
      receivedBits: (seconds) => bits(seconds) - bits(0),
      project: () => {},
    },
    share,
    weight,
    offsetSeconds: 0,
  });
  return { end: (nowSeconds) => shared.remove(sender, nowSeconds) };
}
