/**
 * Runs parts of the core ten times a second, from a timer, because players emit no events in an outage. Browsers
 * throttle timers in hidden tabs but not progress events, which trigger the parts there.
 */

import { PACE_PERIOD_SECONDS } from '../../abr/controller.ts';
import type { Guard } from '../page/events.ts';
import type { SessionClock } from '../requests/session-clock.ts';

/** If the timer is this late, progress events trigger the parts. */
const LATE_TICK_SECONDS = 1.99 * PACE_PERIOD_SECONDS;

export interface Ticking {
  /** The timer runs while one of its parts needs it; asked when a download begins or ends. */
  isNeeded(): boolean;
  /** `atSeconds`: on the session's clock. */
  tick(atSeconds: number): void;
}

export class Ticker {
  #timer: ReturnType<typeof setInterval> | undefined;
  #tickedSeconds = 0;

  constructor(
    private readonly clock: Pick<SessionClock, 'nowSeconds'>,
    private readonly guard: Guard,
    private readonly parts: readonly Ticking[],
  ) {}

  /** A download has begun or ended. */
  update(): void {
    if (!this.parts.some((part) => part.isNeeded())) this.stop();
    else if (this.#timer === undefined) {
      this.#tickedSeconds = this.clock.nowSeconds();
      this.#timer = setInterval(this.#tick, 1000 * PACE_PERIOD_SECONDS);
    }
  }

  /** Bits have arrived, at this time of the session's clock. */
  progressed(atSeconds: number): void {
    if (this.#timer === undefined || atSeconds - this.#tickedSeconds < LATE_TICK_SECONDS) return;
    this.#tickedSeconds = atSeconds;
    // The player finishes handling its own event first.
    queueMicrotask(this.#tick);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #tick = () => {
    const atSeconds = this.clock.nowSeconds();
    this.#tickedSeconds = atSeconds;
    for (const part of this.parts) this.guard(() => part.tick(atSeconds));
  };
}
