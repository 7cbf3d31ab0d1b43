/** The offset of the service's clock by the midpoint method (Cristian 1989). */

/** Greatest drift of the page's clock against the service's. */
const DRIFT_SHARE = 50e-6;
/** If samples differ by more than this beyond their round trips, a clock has leapt. */
const LEAP_MS = 100;

interface ClockSample {
  offsetMs: number;
  halfTripMs: number;
  atMs: number;
}

export class ServerClock {
  private _best: ClockSample | undefined;

  get isKnown(): boolean {
    return this._best !== undefined;
  }

  /** A request left at `sentMs` and its response arrived at `receivedMs`, on the page's clock. */
  sample(sentMs: number, receivedMs: number, serverUtcMs: number): void {
    const halfTripMs = (receivedMs - sentMs) / 2;
    if (!Number.isFinite(serverUtcMs) || !(halfTripMs >= 0)) return;
    const offsetMs = serverUtcMs - (sentMs + halfTripMs);
    const best = this._best;
    if (best !== undefined) {
      const agedMs = best.halfTripMs + (receivedMs - best.atMs) * DRIFT_SHARE;
      const hasLeapt = Math.abs(offsetMs - best.offsetMs) > agedMs + halfTripMs + LEAP_MS;
      if (!hasLeapt && halfTripMs >= agedMs) return;
    }
    this._best = { offsetMs, halfTripMs, atMs: receivedMs };
  }

  /** UTC of the service at a time of the page's clock; NaN while unknown. */
  utcMsAt(pageMs: number): number {
    return pageMs + (this._best?.offsetMs ?? Number.NaN);
  }

  /** Greatest error of `utcMsAt`; NaN while unknown. */
  uncertaintySecondsAt(pageMs: number): number {
    const { halfTripMs, atMs } = this._best ?? { halfTripMs: Number.NaN, atMs: Number.NaN };
    return (halfTripMs + Math.abs(pageMs - atMs) * DRIFT_SHARE) / 1000;
  }

  pageMsAt(utcMs: number): number {
    return utcMs - (this._best?.offsetMs ?? Number.NaN);
  }
}
