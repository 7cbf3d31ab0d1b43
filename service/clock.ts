/** The two clocks of the service: UTC, which may leap, and one that runs evenly. Tests hand in their own. */

export interface Clock {
  /** ms since 1970 by the machine. Set by people and NTP, so that it may leap. */
  utcMs(): number;
  /** ms since some moment; never leaps. */
  monotonicMs(): number;
}

export const REAL_CLOCK: Clock = {
  utcMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
