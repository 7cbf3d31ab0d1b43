/** Time as the origin sees it; tests hand in one of their own. */

export interface Clock {
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Calls back once, `delayMs` from now or a little later; returns what calls it off. */
  schedule(callback: () => void, delayMs: number): () => void;
}

/** Node's. Its timers count whole milliseconds and fire up to one late. */
export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
