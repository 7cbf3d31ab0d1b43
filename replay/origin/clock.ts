/** The origin's source of time; tests replace it. */

export interface TimerClock {
  nowMs(): number;
  /** Calls back once, after `delayMs` or slightly later. The returned function cancels it. */
  schedule(callback: () => void, delayMs: number): () => void;
}

/** Node's clock. Its timers have a resolution of 1 ms and fire up to 1 ms late. */
export const REAL_CLOCK: TimerClock = {
  nowMs: () => performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
