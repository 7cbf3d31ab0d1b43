/** Clocks: UTC, which may leap; a monotonic clock; and the session clock, which forecasters use. */

export interface Clock {
  /** Milliseconds since 1970. The value leaps when a person or NTP sets the system clock. */
  utcMs(): number;
  /** Milliseconds since an arbitrary moment. The value never leaps. */
  monotonicMs(): number;
}

/** Converts a monotonic time to UTC in ms. The result is right even if UTC has leapt since. */
export function utcMsOf(monotonicMs: number, clock: Clock): number {
  return Math.round(clock.utcMs() - clock.monotonicMs() + monotonicMs);
}

export const REAL_CLOCK: Clock = {
  utcMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** A smaller change of the offset between two checks is drift: NTP slews by less than 0.5 ms per second. */
const LEAP_MS = 100;

export interface Leap {
  /** Change of UTC, positive if the clock was set forwards. */
  seconds: number;
  /** UTC in ms after the leap. */
  atMs: number;
}

/** The session clock runs evenly: if UTC leaps, only its offset to UTC changes. */
export class SessionClock {
  private readonly _zeroMonotonicMs: number;
  private _utcMsAtZero: number;

  /** `startSeconds`: when the service starts, on this clock. Seconds before it are for older observations. */
  constructor(
    private readonly _clock: Clock,
    readonly startSeconds = 0,
  ) {
    this._zeroMonotonicMs = _clock.monotonicMs() - startSeconds * 1000;
    this._utcMsAtZero = _clock.utcMs() - startSeconds * 1000;
  }

  nowSeconds(): number {
    return (this._clock.monotonicMs() - this._zeroMonotonicMs) / 1000;
  }

  secondsAt(utcMs: number): number {
    return (utcMs - this._utcMsAtZero) / 1000;
  }

  utcMsAt(seconds: number): number {
    return this._utcMsAtZero + seconds * 1000;
  }

  /** Updates the offset. Returns the leap of UTC since the last call; undefined if UTC has not leapt. */
  check(): Leap | undefined {
    const utcMs = this._clock.utcMs();
    const utcMsAtZero = utcMs - this.nowSeconds() * 1000;
    const leapMs = utcMsAtZero - this._utcMsAtZero;
    this._utcMsAtZero = utcMsAtZero;
    return Math.abs(leapMs) < LEAP_MS ? undefined : { seconds: leapMs / 1000, atMs: utcMs };
  }
}
