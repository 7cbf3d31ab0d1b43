/**
 * Runs parts of the core ten times a second, from a timer, because players emit no events in an outage. Browsers
 * throttle timers in hidden tabs but not progress events, which trigger the parts there.
 */

import { PACE_PERIOD_SECONDS } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
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
  #stopTimer: (() => void) | undefined;
  #tickedSeconds = 0;

  constructor(
    private readonly host: Pick<Host, 'every' | 'soon'>,
    private readonly run: { clock: Pick<SessionClock, 'nowSeconds'>; guard: Guard; parts: readonly Ticking[] },
  ) {}

  /** A download has begun or ended. */
  update(): void {
    const { clock, parts } = this.run;
    if (!parts.some((part) => part.isNeeded())) this.stop();
    else if (this.#stopTimer === undefined) {
      this.#tickedSeconds = clock.nowSeconds();
      this.#stopTimer = this.host.every(1000 * PACE_PERIOD_SECONDS, this.#tick);
    }
  }

  /** Bits have arrived, at this time of the session's clock. */
  progressed(atSeconds: number): void {
    if (this.#stopTimer === undefined || atSeconds - this.#tickedSeconds < LATE_TICK_SECONDS) return;
    this.#tickedSeconds = atSeconds;
    // The player finishes handling its own event first.
    this.host.soon(this.#tick);
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  readonly #tick = () => {
    const { clock, guard, parts } = this.run;
    const atSeconds = clock.nowSeconds();
    this.#tickedSeconds = atSeconds;
    for (const part of parts) guard(() => part.tick(atSeconds));
  };
}
