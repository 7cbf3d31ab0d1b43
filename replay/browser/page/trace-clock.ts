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

  /** Requests the time; before the session's start the origin's clock stands still. */
  async synchronise(): Promise<void> {
    const sent = this.sessionSeconds();
    const response = await fetch(this.url);
    const utcMs = Number(await response.text());
    const received = this.sessionSeconds();
    if (!response.ok || !Number.isFinite(utcMs)) throw new Error(`${this.url}: no time, status ${response.status}`);
    this.zeroUtcMs = utcMs - ((sent + received) / 2) * 1000;
  }

  now(): { utcMs: number; uncertaintySeconds: number } {
    return { utcMs: this.zeroUtcMs + this.sessionSeconds() * 1000, uncertaintySeconds: UNCERTAINTY_SECONDS };
  }
}
