/** One request on the replayed link: when its bits come, and what a page could see of that while they do. */

import { type Forecaster, type PiecewisePath, SILENCE_SECONDS } from '../../abr/index.ts';

/** The first byte is here when so many bits are. */
const FIRST_BYTE_BITS = 8;

/** Times are seconds of the session's clock; `link` counts from the session's second 0 and holds the request's RTT. */
export class Flight {
  readonly endsAtSeconds: number;
  readonly firstByteAtSeconds: number;
  private readonly bitsBefore: number;

  constructor(
    private readonly link: PiecewisePath,
    readonly requestedAtSeconds: number,
    readonly sizeBits: number,
    latencySeconds: number,
  ) {
    this.endsAtSeconds = requestedAtSeconds + link.downloadSeconds(requestedAtSeconds, sizeBits);
    this.firstByteAtSeconds =
      requestedAtSeconds + link.transferSeconds(requestedAtSeconds, Math.min(FIRST_BYTE_BITS, sizeBits));
    this.bitsBefore = link.cumulativeBits(requestedAtSeconds + latencySeconds);
  }

  receivedBits(atSeconds: number): number {
    if (atSeconds < this.firstByteAtSeconds) return 0;
    if (atSeconds >= this.endsAtSeconds) return this.sizeBits;
    return Math.min(this.sizeBits, Math.max(0, this.link.cumulativeBits(atSeconds) - this.bitsBefore));
  }

  /** When the last of the bits received by `atSeconds` came; undefined while none has. */
  lastProgressAtSeconds(atSeconds: number): number | undefined {
    const received = this.receivedBits(atSeconds);
    if (received <= 0) return undefined;
    return Math.min(atSeconds, this.requestedAtSeconds + this.link.transferSeconds(this.requestedAtSeconds, received));
  }
}

/** Tells a forecaster of a flight in bins, as a page does from XHR progress events. */
export class ProgressFeed {
  private flight: Flight | undefined;
  private latencyTold = false;
  private toldUntilSeconds = 0;
  private toldBits = 0;

  constructor(
    private readonly forecaster: Forecaster,
    private readonly binSeconds: number,
  ) {}

  /** A request has left; what was not yet told before it was idle. */
  begin(flight: Flight): void {
    if (flight.requestedAtSeconds > this.toldUntilSeconds) {
      this.forecaster.observe({
        kind: 'idle',
        startSeconds: this.toldUntilSeconds,
        endSeconds: flight.requestedAtSeconds,
      });
    }
    this.flight = flight;
    this.latencyTold = false;
    this.toldBits = 0;
    this.toldUntilSeconds = flight.requestedAtSeconds;
  }

  /** Tells what was seen until `atSeconds`: whole bins, at the flight's end (or its abandonment) the rest as well. */
  tell(atSeconds: number, ended: boolean): void {
    const { flight } = this;
    if (flight === undefined) return;
    if (!this.latencyTold && flight.firstByteAtSeconds <= atSeconds) {
      this.latencyTold = true;
      this.toldUntilSeconds = flight.firstByteAtSeconds;
      this.forecaster.observe({
        kind: 'request-latency',
        atSeconds: flight.firstByteAtSeconds,
        latencySeconds: flight.firstByteAtSeconds - flight.requestedAtSeconds,
      });
    }
    const { requestedAtSeconds } = flight;
    if (!this.latencyTold && atSeconds - requestedAtSeconds > SILENCE_SECONDS) {
      // Nothing has come for longer than any latency: the link is dead, which is something that was seen.
      this.toldUntilSeconds = Math.max(this.toldUntilSeconds, requestedAtSeconds + SILENCE_SECONDS);
      if (atSeconds > this.toldUntilSeconds) {
        this.forecaster.observe({
          kind: 'throughput',
          startSeconds: this.toldUntilSeconds,
          endSeconds: atSeconds,
          bits: 0,
        });
        this.toldUntilSeconds = atSeconds;
      }
    }
    if (this.latencyTold) {
      while (this.toldUntilSeconds < atSeconds) {
        const binEnd = this.toldUntilSeconds + this.binSeconds;
        if (binEnd > atSeconds && !ended) break;
        const endSeconds = Math.min(binEnd, atSeconds);
        const bitsThen = flight.receivedBits(endSeconds);
        this.forecaster.observe({
          kind: 'throughput',
          startSeconds: this.toldUntilSeconds,
          endSeconds,
          bits: bitsThen - this.toldBits,
        });
        this.toldBits = bitsThen;
        this.toldUntilSeconds = endSeconds;
      }
    }
    if (ended) {
      this.toldUntilSeconds = atSeconds;
      this.flight = undefined;
    }
  }
}
