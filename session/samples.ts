/** Media that come without requests (Media over QUIC), as Shaka tells: their bits count as throughput while they are read. */

import type { Flow } from './flow.ts';
import type { Segment } from './player-port.ts';
import { Request } from './request.ts';

export class Samples {
  /** Stands for all that arrives without requests, in this session's meter. */
  private _sampling: { meter: object; request: object } | undefined;

  constructor(private readonly _flow: Flow) {}

  /** A part of this segment was read in these seconds. */
  arrived(segment: Segment, bits: number, seconds: number): void {
    this._flow.start(seconds);
    const { session, clock, forecasting } = this._flow;
    const atSeconds = clock.nowSeconds();
    const sinceSeconds = Math.max(0, atSeconds - seconds);
    const meter = forecasting?.meter;
    if (meter) {
      if (meter !== this._sampling?.meter) this._sampling = { meter, request: meter.requestSent(sinceSeconds) };
      const { request } = this._sampling;
      meter.resumed(request, atSeconds, sinceSeconds, bits);
      meter.waits(request, atSeconds, Number.POSITIVE_INFINITY);
    }
    // The meter has counted the bits.
    const request = new Request(sinceSeconds, { segment, sizeBits: bits, knownBps: session.knownBps });
    session.began(request);
    request.received(atSeconds, { totalBits: bits });
    session.ended(request, { outcome: 'whole', nowSeconds: atSeconds, downloadSeconds: seconds, source: 'network' });
  }
}
