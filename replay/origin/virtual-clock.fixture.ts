/** A clock for tests of the origin. */

import type { Clock } from './clock.ts';

/** Virtual time: timers fire in order, each late by `lateMs()`. */
export class VirtualClock implements Clock {
  private now = 1234.5;
  private timers: { atMs: number; callback: () => void }[] = [];

  constructor(private readonly lateMs = () => 0) {}

  nowMs() {
    return this.now;
  }

  schedule(callback: () => void, delayMs: number) {
    const timer = { atMs: this.now + delayMs + this.lateMs(), callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  get pending() {
    return this.timers.length;
  }

  /** Fires timers until none is left or time has reached `untilMs`. */
  run(untilMs = Number.POSITIVE_INFINITY) {
    for (;;) {
      this.timers.sort((a, b) => a.atMs - b.atMs);
      const next = this.timers[0];
      if (!next || next.atMs > untilMs) break;
      this.timers.shift();
      this.now = Math.max(this.now, next.atMs);
      next.callback();
    }
    if (Number.isFinite(untilMs)) this.now = Math.max(this.now, untilMs);
  }
}
