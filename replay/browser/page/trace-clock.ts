/** The plugin's time source: the trace's UTC, from the origin's `/time`. */

import type { TimeSource } from 'leo-abr';

/** Exceeds half a round trip on one machine. */
const UNCERTAINTY_SECONDS = 0.01;

/** Number of requests for the running clock; the fastest request counts. */
const SAMPLES = 3;

export class TraceClock implements TimeSource {
  /** UTC in ms at the origin's second 0. */
  private _zeroUtcMs = Number.NaN;
  /** `performance.now()` at the origin's second 0, if measured. Undefined: at the session's second 0. */
  private _zeroMs: number | undefined;

  constructor(
    private readonly _url: string,
    private readonly _sessionSeconds: () => number,
  ) {}

  /** Fetches the time before the origin's clock starts. */
  async synchronise(): Promise<void> {
    this._zeroUtcMs = await this._fetchUtcMs();
  }

  /** Fetches the time of the running clock. Resolves to `performance.now()` at the origin's second 0. */
  async startedAtMs(): Promise<number> {
    let best = { roundTripMs: Number.POSITIVE_INFINITY, startedAtMs: Number.NaN };
    for (let i = 0; i < SAMPLES; i++) {
      const sentMs = performance.now();
      const utcMs = await this._fetchUtcMs();
      const roundTripMs = performance.now() - sentMs;
      const startedAtMs = sentMs + roundTripMs / 2 - (utcMs - this._zeroUtcMs);
      if (roundTripMs < best.roundTripMs) best = { roundTripMs, startedAtMs };
    }
    this._zeroMs = best.startedAtMs;
    return best.startedAtMs;
  }

  now(): { utcMs: number; uncertaintySeconds: number } {
    const sinceMs = this._zeroMs === undefined ? this._sessionSeconds() * 1000 : performance.now() - this._zeroMs;
    return { utcMs: this._zeroUtcMs + sinceMs, uncertaintySeconds: UNCERTAINTY_SECONDS };
  }

  private async _fetchUtcMs(): Promise<number> {
    const response = await fetch(this._url);
    const utcMs = Number(await response.text());
    if (!response.ok || !Number.isFinite(utcMs)) throw new Error(`${this._url}: no time, status ${response.status}`);
    return utcMs;
  }
}
