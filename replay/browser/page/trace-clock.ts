/** The plugin's time source: the trace's UTC, from the origin's `/time`. */

import type { TimeSource } from 'leo-abr';

/** More than half a round trip on one machine. */
const UNCERTAINTY_SECONDS = 0.01;

export class TraceClock implements TimeSource {
  /** UTC in ms at the session's second 0. */
  private zeroUtcMs = Number.NaN;

  constructor(
    private readonly url: string,
    private readonly sessionSeconds: () => number,
  ) {}

  /** Requests the time before the session's start: the origin's clock stands still. */
  async synchronise(): Promise<void> {
    this.zeroUtcMs = await this.fetchUtcMs();
  }

  /** The time of `performance.now()` at the session's second 0. Requests the time; the origin's clock must run. */
  async startedAtMs(): Promise<number> {
    const sentMs = performance.now();
    const utcMs = await this.fetchUtcMs();
    return (sentMs + performance.now()) / 2 - (utcMs - this.zeroUtcMs);
  }

  now(): { utcMs: number; uncertaintySeconds: number } {
    return { utcMs: this.zeroUtcMs + this.sessionSeconds() * 1000, uncertaintySeconds: UNCERTAINTY_SECONDS };
  }

  private async fetchUtcMs(): Promise<number> {
    const response = await fetch(this.url);
    const utcMs = Number(await response.text());
    if (!response.ok || !Number.isFinite(utcMs)) throw new Error(`${this.url}: no time, status ${response.status}`);
    return utcMs;
  }
}
