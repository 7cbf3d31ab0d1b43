/** A clock for tests. */

import type { Clock } from './clock.ts';

export class ManualClock implements Clock {
  #utcMs: number;
  #monotonicMs = 1000;

  /** Default: 2026-01-01 12:00:00 UTC. */
  constructor(utcMs = Date.UTC(2026, 0, 1, 12)) {
    this.#utcMs = utcMs;
  }

  utcMs(): number {
    return this.#utcMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(seconds: number): void {
    this.#utcMs += seconds * 1000;
    this.#monotonicMs += seconds * 1000;
  }

  /** Sets UTC, but not the monotonic clock. */
  leap(seconds: number): void {
    this.#utcMs += seconds * 1000;
  }
}
