/** The two clocks of the service: UTC, which may leap, and a monotonic one. Tests use their own. */

export interface Clock {
  /** ms since 1970; leaps when a person or NTP sets the system clock. */
  utcMs(): number;
  /** ms since an arbitrary moment; never leaps. */
  monotonicMs(): number;
}

/** UTC of a moment of the monotonic clock, right even if UTC has leapt since. */
export function utcMsOf(monotonicMs: number, clock: Clock): number {
  return Math.round(clock.utcMs() - clock.monotonicMs() + monotonicMs);
}

export const REAL_CLOCK: Clock = {
  utcMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
