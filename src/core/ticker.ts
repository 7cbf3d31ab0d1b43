/**
 * Runs parts of the core ten times a second, from a timer, because players emit no events in an outage. Browsers
 * throttle timers in hidden tabs but not progress events, which trigger the parts there.
 */

import { PACE_PERIOD_SECONDS } from '../../abr/controller.ts';
import type { Guard } from './events.ts';

const TICK_MS = 1000 * PACE_PERIOD_SECONDS;
/** If the timer is this late, progress events trigger the parts. */
const LATE_TICK_MS = 2 * TICK_MS;

export interface Ticking {
  /** The timer runs while one of its parts needs it; asked when a download begins or ends. */
  isNeeded(): boolean;
  tick(): void;
}

export class Ticker {
  #timer: ReturnType<typeof setInterval> | undefined;
  #tickedMs = 0;

  constructor(
    private readonly guard: Guard,
    private readonly parts: readonly Ticking[],
  ) {}

  /** A download has begun or ended. */
  update(): void {
    if (!this.parts.some((part) => part.isNeeded())) this.stop();
    else if (this.#timer === undefined) {
      this.#tickedMs = performance.now();
      this.#timer = setInterval(() => this.#tick(), TICK_MS);
    }
  }

  /** Bits have arrived. */
  progressed(): void {
    if (this.#timer === undefined || performance.now() - this.#tickedMs < LATE_TICK_MS) return;
    this.#tickedMs = performance.now();
    // The player finishes handling its own event first.
    queueMicrotask(() => this.#tick());
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.#tickedMs = performance.now();
    for (const part of this.parts) this.guard(() => part.tick());
  }
}
