/** The plugin's time source: the trace's UTC, from the origin's `/time`. */

import type { TimeSource } from 'leo-abr';

/** Exceeds half a round trip on one machine. */
const UNCERTAINTY_SECONDS = 0.01;

/** Number of requests for the running clock; the fastest request counts. */
const SAMPLES = 3;

export class TraceClock implements TimeSource {
  /** UTC in ms at the origin's second 0. */
  private zeroUtcMs = Number.NaN;
  /** `performance.now()` at the origin's second 0, if measured. Undefined: at the session's second 0. */
  private zeroMs: number | undefined;

  constructor(
    private readonly url: string,
    private readonly sessionSeconds: () => number,
  ) {}

  /** Fetches the time before the origin's clock starts. */
  async synchronise(): Promise<void> {
    this.zeroUtcMs = await this.fetchUtcMs();
  }

  /** Fetches the time of the running clock. Resolves to `performance.now()` at the origin's second 0. */
  async startedAtMs(): Promise<number> {
    let best = { roundTripMs: Number.POSITIVE_INFINITY, startedAtMs: Number.NaN };
    for (let i = 0; i < SAMPLES; i++) {
      const sentMs = performance.now();
      const utcMs = await this.fetchUtcMs();
      const roundTripMs = performance.now() - sentMs;
      const startedAtMs = sentMs + roundTripMs / 2 - (utcMs - this.zeroUtcMs);
      if (roundTripMs < best.roundTripMs) best = { roundTripMs, startedAtMs };
    }
    this.zeroMs = best.startedAtMs;
    return best.startedAtMs;
  }

  now(): { utcMs: number; uncertaintySeconds: number } {
    const sinceMs = this.zeroMs === undefined ? this.sessionSeconds() * 1000 : performance.now() - this.zeroMs;
    return { utcMs: this.zeroUtcMs + sinceMs, uncertaintySeconds: UNCERTAINTY_SECONDS };
  }

  private async fetchUtcMs(): Promise<number> {
    const response = await fetch(this.url);
    const utcMs = Number(await response.text());
    if (!response.ok || !Number.isFinite(utcMs)) throw new Error(`${this.url}: no time, status ${response.status}`);
    return utcMs;
  }
}
