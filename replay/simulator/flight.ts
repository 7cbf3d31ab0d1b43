/** One request on the replayed link: when its bits come, and what a page could see of that while they do. */

import type { Forecaster, PiecewisePath } from '../../abr/index.ts';
import { type MeteredRequest, ObservationMeter } from '../../predictor/observation-meter.ts';

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

/** Tells a forecaster of flights as a page does: through the very meter, by progress events of its own. */
export class ProgressFeed {
  private readonly meter: ObservationMeter;
  private flight: { of: Flight; request: MeteredRequest } | undefined;
  private toldUntilSeconds = 0;
  private toldBits = 0;

  /** Progress is told every `eventSeconds`, or at each `tell` where those are more frequent. */
  constructor(
    forecaster: Forecaster,
    private readonly eventSeconds: number,
  ) {
    this.meter = new ObservationMeter((observation) => forecaster.observe(observation));
  }

  /** A request has left. */
  begin(flight: Flight): void {
    this.flight = { of: flight, request: this.meter.requestSent(flight.requestedAtSeconds) };
    this.toldBits = 0;
  }

  /** Tells what was seen until `atSeconds`, where the flight `ended` (or was abandoned) or went on. */
  tell(atSeconds: number, ended: boolean): void {
    const { flight, meter } = this;
    if (flight === undefined) return;
    const { of, request } = flight;
    if (of.firstByteAtSeconds <= atSeconds) {
      if (request.reportedSeconds === undefined) {
        meter.firstByte(request, of.firstByteAtSeconds);
        this.toldUntilSeconds = of.firstByteAtSeconds;
      }
      while (this.toldUntilSeconds < atSeconds) {
        this.toldUntilSeconds = Math.min(this.toldUntilSeconds + this.eventSeconds, atSeconds);
        const bits = of.receivedBits(this.toldUntilSeconds);
        meter.received(request, this.toldUntilSeconds, bits - this.toldBits);
        this.toldBits = bits;
      }
    }
    if (ended) {
      meter.requestEnded(request, atSeconds);
      this.flight = undefined;
    } else meter.advance(atSeconds);
  }
}
