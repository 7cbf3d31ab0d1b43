/** Divides a link equally among the flights that have bits to send, exactly; the caller advances its time. */

import type { PiecewisePath } from '../../abr/index.ts';
import type { OtherTraffic } from '../households.ts';

/** The link as a flight sees it; seconds of the session's clock. */
export type FlightLink = Pick<PiecewisePath, 'cumulativeBits' | 'downloadSeconds'>;

/** Time on the link from the first bit to the last. */
export interface LinkTransfer {
  startSeconds: number;
  endSeconds: number;
}

/** A download. Its future times hold while no other flight starts or stops sending. */
export interface SharedFlight {
  readonly endsAtSeconds: number;
  readonly transfers: readonly LinkTransfer[];
  receivedBits(atSeconds: number): number;
  /** Computes the times after `nowSeconds` again, after a change of the link. */
  project(nowSeconds: number): void;
}

interface SharePiece {
  linkBits: number;
  bits: number;
  divisor: number;
}

/** One flight's share: the link, with its bits divided by a divisor that changes. */
class Share implements FlightLink {
  /** In a piece, bits = piece's bits + (link's bits - piece's link bits) / divisor. Without pieces: the whole link. */
  private readonly _pieces: SharePiece[] = [];

  constructor(private readonly _link: PiecewisePath) {}

  /** Divides from `atSeconds` on. Returns false if the divisor stays. */
  divide(atSeconds: number, divisor: number): boolean {
    if (divisor === (this._pieces.at(-1)?.divisor ?? 1)) return false;
    const linkBits = this._link.cumulativeBits(atSeconds);
    this._pieces.push({ linkBits, bits: this._bitsAt(linkBits), divisor });
    return true;
  }

  cumulativeBits(seconds: number): number {
    return this._bitsAt(this._link.cumulativeBits(seconds));
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    const { _link: link, _pieces: pieces } = this;
    if (pieces.length === 0) return link.downloadSeconds(startSeconds, sizeBits);
    const latencySeconds = link.downloadSeconds(startSeconds, 0);
    const before = link.cumulativeBits(startSeconds + latencySeconds);
    const until = this._bitsAt(before) + sizeBits;
    const piece = this._lastPiece('bits', until);
    const linkBits = piece === undefined ? until : piece.linkBits + (until - piece.bits) * piece.divisor;
    return link.downloadSeconds(startSeconds, linkBits - before);
  }

  private _bitsAt(linkBits: number): number {
    const piece = this._lastPiece('linkBits', linkBits);
    return piece === undefined ? linkBits : piece.bits + (linkBits - piece.linkBits) / piece.divisor;
  }

  private _lastPiece(of: 'linkBits' | 'bits', until: number): SharePiece | undefined {
    for (let i = this._pieces.length - 1; i >= 0; i--) if (this._pieces[i]![of] <= until) return this._pieces[i];
    return undefined;
  }
}

export class SharedLink {
  nowSeconds = 0;
  private _receivedBits = 0;
  private readonly _senders = new Set<Sender>();

  /** The link as a player, or a download, sees it: its second 0 is `offsetSeconds` here. */
  access(offsetSeconds = 0): Sender {
    return new Sender(this, offsetSeconds);
  }

  /** A download that nobody reads and that always has bits to send. */
  addTraffic(link: PiecewisePath, { fromSeconds, toSeconds }: OtherTraffic): SharedFlight {
    const access = this.access();
    const flight = new EndlessFlight(access.shareOf(link), fromSeconds, toSeconds);
    access.begin(flight);
    return flight;
  }

  add(sender: Sender): void {
    this._senders.add(sender);
    this._settle();
  }

  remove(sender: Sender, receivedBits: number): void {
    this._receivedBits += receivedBits;
    this._senders.delete(sender);
    this._settle();
  }

  nextChangeSeconds(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { flight, offsetSeconds } of this._senders) {
      for (const { startSeconds, endSeconds } of flight!.transfers) {
        for (const seconds of [startSeconds + offsetSeconds, endSeconds + offsetSeconds]) {
          if (seconds > this.nowSeconds && seconds < next) next = seconds;
        }
      }
    }
    return next;
  }

  advanceTo(seconds: number): void {
    for (let next = this.nextChangeSeconds(); next < seconds; next = this.nextChangeSeconds()) {
      this.nowSeconds = next;
      this._settle();
    }
    this.nowSeconds = Math.max(this.nowSeconds, seconds);
    this._settle();
  }

  /** Received bits / bits of `link` until a second not before the end of any ended flight; 0 at second 0. */
  utilisation(link: PiecewisePath, untilSeconds: number): number {
    let bits = this._receivedBits;
    for (const { flight, offsetSeconds } of this._senders) bits += flight!.receivedBits(untilSeconds - offsetSeconds);
    const linkBits = link.cumulativeBits(untilSeconds);
    return linkBits > 0 ? bits / linkBits : 0;
  }

  private _settle(): void {
    const { nowSeconds } = this;
    const sending = [...this._senders].filter((sender) => sender.isSendingAt(nowSeconds));
    for (const sender of sending) sender.divide(nowSeconds, sending.length);
    // With its new share, a flight that was about to end may have ended, by rounding.
    if (!sending.every((sender) => sender.isSendingAt(nowSeconds))) this._settle();
  }
}

export class Sender {
  flight: SharedFlight | undefined;
  private _share: Share | undefined;

  constructor(
    private readonly _shared: SharedLink,
    readonly offsetSeconds: number,
  ) {}

  shareOf(link: PiecewisePath): FlightLink {
    this._share = new Share(link);
    return this._share;
  }

  begin(flight: SharedFlight): void {
    this.flight = flight;
    this._shared.add(this);
  }

  /** Ends a complete or abandoned flight; `nowSeconds` is of the session's clock. */
  end(nowSeconds: number): void {
    this._shared.remove(this, this.flight!.receivedBits(nowSeconds));
    this.flight = undefined;
  }

  isSendingAt(seconds: number): boolean {
    return this.flight!.transfers.some(
      ({ startSeconds, endSeconds }) =>
        startSeconds + this.offsetSeconds <= seconds && seconds < endSeconds + this.offsetSeconds,
    );
  }

  divide(atSeconds: number, divisor: number): void {
    const ownSeconds = atSeconds - this.offsetSeconds;
    if (this._share!.divide(ownSeconds, divisor)) this.flight!.project(ownSeconds);
  }
}

/** A download that always has bits to send, from one second of the link's clock to another. */
class EndlessFlight implements SharedFlight {
  readonly transfers: readonly LinkTransfer[];

  constructor(
    private readonly _link: FlightLink,
    private readonly _fromSeconds: number,
    readonly endsAtSeconds: number,
  ) {
    this.transfers = [{ startSeconds: _fromSeconds, endSeconds: endsAtSeconds }];
  }

  receivedBits(atSeconds: number): number {
    const { _link: link, _fromSeconds: fromSeconds, endsAtSeconds } = this;
    const until = Math.max(fromSeconds, Math.min(atSeconds, endsAtSeconds));
    return link.cumulativeBits(until) - link.cumulativeBits(fromSeconds);
  }

  project(): void {}
}
