/**
 * The service's own seconds, which forecasters count in, against UTC. They run evenly; where UTC leaps (somebody sets the
 * clock, the machine wakes up), only the relation between the two changes.
 */

import type { Clock } from './clock.ts';

/** UTC may be off the even clock by so much before it counts as a leap; NTP slews by less than 0.5 ms a second. */
const LEAP_MS = 100;

export interface Leap {
  /** By how much UTC is ahead of where it would have been. */
  seconds: number;
  /** UTC after it. */
  atMs: number;
}

export class SessionClock {
  readonly #clock: Clock;
  readonly #startMonotonicMs: number;
  /** UTC in ms of second 0. */
  #utcMsAtStart: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMonotonicMs = clock.monotonicMs();
    this.#utcMsAtStart = clock.utcMs();
  }

  get utcMsAtStart(): number {
    return this.#utcMsAtStart;
  }

  nowSeconds(): number {
    return (this.#clock.monotonicMs() - this.#startMonotonicMs) / 1000;
  }

  utcMs(): number {
    return this.#clock.utcMs();
  }

  secondsAt(utcMs: number): number {
    return (utcMs - this.#utcMsAtStart) / 1000;
  }

  utcMsAt(seconds: number): number {
    return this.#utcMsAtStart + seconds * 1000;
  }

  /** Looks whether UTC has leapt since the last look; small drift is followed in silence. */
  check(): Leap | undefined {
    const utcMs = this.#clock.utcMs();
    const utcMsAtStart = utcMs - this.nowSeconds() * 1000;
    const leapMs = utcMsAtStart - this.#utcMsAtStart;
    this.#utcMsAtStart = utcMsAtStart;
    return Math.abs(leapMs) < LEAP_MS ? undefined : { seconds: leapMs / 1000, atMs: utcMs };
  }
}
