/** UTC, which may leap, a monotonic clock, and the session clock, which forecasters use. */

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

/** Smaller changes of the offset between two checks are drift: NTP slews by less than 0.5 ms per second. */
const LEAP_MS = 100;

export interface Leap {
  /** Change of UTC; positive: forwards. */
  seconds: number;
  atMs: number;
}

/** Runs evenly: if UTC leaps, only its offset to UTC changes. */
export class SessionClock {
  readonly #startMonotonicMs: number;
  #utcMsAtStart: number;

  /** `startSeconds`: when the service started; earlier ones are for what is known from before. */
  constructor(
    private readonly clock: Clock,
    readonly startSeconds = 0,
  ) {
    this.#startMonotonicMs = clock.monotonicMs() - startSeconds * 1000;
    this.#utcMsAtStart = clock.utcMs() - startSeconds * 1000;
  }

  get utcMsAtStart(): number {
    return this.#utcMsAtStart;
  }

  nowSeconds(): number {
    return (this.clock.monotonicMs() - this.#startMonotonicMs) / 1000;
  }

  secondsAt(utcMs: number): number {
    return (utcMs - this.#utcMsAtStart) / 1000;
  }

  utcMsAt(seconds: number): number {
    return this.#utcMsAtStart + seconds * 1000;
  }

  /** Updates the offset. Returns the leap of UTC since the last call, if there was one. */
  check(): Leap | undefined {
    const utcMs = this.clock.utcMs();
    const utcMsAtStart = utcMs - this.nowSeconds() * 1000;
    const leapMs = utcMsAtStart - this.#utcMsAtStart;
    this.#utcMsAtStart = utcMsAtStart;
    return Math.abs(leapMs) < LEAP_MS ? undefined : { seconds: leapMs / 1000, atMs: utcMs };
  }
}
