/**
 * Runs parts of the core ten times a second, from a timer, because players emit no events in an outage. Browsers
 * throttle timers in hidden tabs but not progress events, which trigger the parts there.
 */

import { PACE_PERIOD_SECONDS } from '../../abr/controller.ts';
import type { LifeCycle } from './life-cycle.ts';

const TICK_MS = 1000 * PACE_PERIOD_SECONDS;
/** If the timer is this late, progress events trigger the parts. */
const LATE_TICK_MS = 2 * TICK_MS;

export interface Ticking {
  /** The timer runs while one of its parts needs it; asked when a download begins or ends. */
  isNeeded(): boolean;
  tick(): void;
}

export type Ticker = ReturnType<typeof createTicker>;

export function createTicker(life: LifeCycle, parts: readonly Ticking[]) {
  let timer: ReturnType<typeof setInterval> | undefined;
  let tickedMs = 0;

  function tick(): void {
    tickedMs = performance.now();
    for (const part of parts) life.guard(part.tick);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** A download has begun or ended. */
    update() {
      if (!parts.some((part) => part.isNeeded())) stop();
      else if (timer === undefined) {
        tickedMs = performance.now();
        timer = setInterval(tick, TICK_MS);
      }
    },
    /** Bits have arrived. */
    progressed() {
      if (timer === undefined || performance.now() - tickedMs < LATE_TICK_MS) return;
      tickedMs = performance.now();
      // The player finishes handling its own event first.
      queueMicrotask(tick);
    },
    stop,
  };
}
