/** UTC as the plugin is told it: the trace's, by the origin's `/time`. */

import type { TimeSource } from 'leo-abr';

/** What the answer may be off: half of a round trip on this machine, generously. */
const UNCERTAINTY_SECONDS = 0.01;

export class TraceClock implements TimeSource {
  private readonly url: string;
  private readonly sessionSeconds: () => number;
  /** UTC in ms at the session's second 0. */
  private zeroUtcMs = Number.NaN;

  constructor(url: string, sessionSeconds: () => number) {
    this.url = url;
    this.sessionSeconds = sessionSeconds;
  }

  /** Asks the origin. Before the session's start its clock stands. */
  async synchronise(): Promise<void> {
    const sent = this.sessionSeconds();
    const response = await fetch(this.url);
    const utcMs = Number(await response.text());
    const received = this.sessionSeconds();
    if (!response.ok || !Number.isFinite(utcMs)) throw new Error(`${this.url} answered ${response.status}`);
    this.zeroUtcMs = utcMs - ((sent + received) / 2) * 1000;
  }

  now(): { utcMs: number; uncertaintySeconds: number } {
    return { utcMs: this.zeroUtcMs + this.sessionSeconds() * 1000, uncertaintySeconds: UNCERTAINTY_SECONDS };
  }
}
