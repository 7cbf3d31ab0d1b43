/** A clock that tests set. */

import type { Clock } from './clock.ts';

export class ManualClock implements Clock {
  private _monotonicMs = 1000;

  /** Default: 2026-01-01 12:00:00 UTC. */
  constructor(private _ms = Date.UTC(2026, 0, 1, 12)) {}

  utcMs(): number {
    return this._ms;
  }

  monotonicMs(): number {
    return this._monotonicMs;
  }

  advance(seconds: number): void {
    this._ms += seconds * 1000;
    this._monotonicMs += seconds * 1000;
  }

  /** Sets UTC forwards or back, and leaves the monotonic clock. */
  leap(seconds: number): void {
    this._ms += seconds * 1000;
  }
}
