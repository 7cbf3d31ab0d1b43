/** The clocks of a session: time since its first media request, UTC, the timer of ten ticks a second, and late answers. */

import { PACE_PERIOD_SECONDS } from '../abr/controller.ts';
import { DEVICE_CLOCK_UNCERTAINTY_SECONDS } from '../abr/forecast.ts';
import type { Host, ResponseSource, ResponseWatch } from './host.ts';
import type { Events, Guard } from './page/events.ts';
import type { TimeSource } from './page/option-types.ts';
import type { Clocks } from './state.ts';

/**
 * The clock is read more often than this during a download: timers of a hidden tab fire once a minute. After a longer
 * time the page was suspended, which tells nothing of the link.
 */
const SUSPENDED_MS = 90_000;
/** If the timer is this late, progress events trigger the ticks. */
const LATE_TICK_SECONDS = 1.99 * PACE_PERIOD_SECONDS;

export function deviceClock(host: Pick<Host, 'utcMs'>): TimeSource {
  return { now: () => ({ utcMs: host.utcMs(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }) };
}

/** Starts with the first media request of any type. */
export class SessionClock {
  private _startMs: number | undefined;
  private _readMs = 0;

  constructor(
    private readonly _host: Pick<Host, 'nowMs'>,
    private readonly _parts: { timeSource: TimeSource; events: Events; requests: { readonly size: number } },
  ) {}

  get isRunning(): boolean {
    return this._startMs !== undefined;
  }

  /** `agoSeconds`: how long ago the first request was sent. */
  start(agoSeconds = 0): void {
    this._readMs = this._host.nowMs();
    this._startMs = this._readMs - 1000 * agoSeconds;
  }

  /** Another session begins. */
  reset(): void {
    this._startMs = undefined;
  }

  /** Seconds since the first media request, without downloads' time in a suspended page; 0 before it. */
  nowSeconds(): number {
    if (this._startMs === undefined) return 0;
    const nowMs = this._host.nowMs();
    if (this._parts.requests.size && nowMs - this._readMs > SUSPENDED_MS) this._startMs += nowMs - this._readMs;
    this._readMs = nowMs;
    return (nowMs - this._startMs) / 1000;
  }

  /** Without UTC where the time source does not know it. */
  read(): Clocks {
    const { events, timeSource } = this._parts;
    const utc = events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds: utcUncertaintySeconds } = timeSource.now();
      if (Number.isFinite(utcMs) && utcUncertaintySeconds >= 0) return { utcMs, utcUncertaintySeconds };
      throw new Error(`${utcMs} +- ${utcUncertaintySeconds}`);
    });
    const nowSeconds = this.nowSeconds();
    if (Number.isNaN(nowSeconds)) throw new Error('performance.now() is NaN');
    return { nowSeconds, ...utc };
  }
}

interface Ticked {
  guard: Guard;
  /** The timer runs while this is true. */
  isNeeded(): boolean;
  /** `isFirst`: the timer has just begun. */
  tick(isFirst: boolean): void;
}

/**
 * Ticks ten times a second, from a timer, because players emit no events in an outage. Browsers throttle timers in
 * hidden tabs but not progress events, which trigger the ticks there.
 */
export class Ticker {
  private _stopTimer: (() => void) | undefined;
  private _tickedSeconds = 0;

  constructor(
    private readonly _host: Pick<Host, 'every' | 'soon'>,
    private readonly _clock: SessionClock,
    private readonly _ticked: Ticked,
  ) {}

  /** A request has begun or ended, or a tick. */
  update(): void {
    const { guard, isNeeded, tick } = this._ticked;
    // The guard gives nothing after the plugin is detached.
    if (!guard(isNeeded)) this.stop();
    else if (this._stopTimer === undefined) {
      this._tickedSeconds = this._clock.nowSeconds();
      this._stopTimer = this._host.every(1000 * PACE_PERIOD_SECONDS, this._tick);
      this._host.soon(() => tick(true));
    }
  }

  /** Bits have arrived, at this time of the session's clock. */
  progressed(atSeconds: number): void {
    if (this._stopTimer === undefined || atSeconds - this._tickedSeconds < LATE_TICK_SECONDS) return;
    this._tickedSeconds = atSeconds;
    // The player finishes handling its own event first.
    this._host.soon(this._tick);
  }

  stop(): void {
    if (this._stopTimer) this._stopTimer();
    this._stopTimer = undefined;
  }

  private readonly _tick = () => {
    this._tickedSeconds = this._clock.nowSeconds();
    this._ticked.tick(false);
    this.update();
  };
}

/** Finds who answered whole requests. The browser tells up to a task later, when the player may have gone on. */
export class LateAnswers {
  private readonly _pending = new Set<() => void>();
  private _responses: ResponseWatch | undefined;

  constructor(
    private readonly _host: Pick<Host, 'nowMs' | 'every' | 'watchResponses'>,
    private readonly _guard: Guard,
  ) {}

  /** A session begins. */
  start(): void {
    this._responses = this._host.watchResponses();
  }

  /**
   * Calls `then` with who sent a body of these bits, requested `agoSeconds` ago: now, or later if that is unknown yet.
   * Returns whether it was called.
   */
  find(bits: number, agoSeconds: number, canWait: boolean, then: (source: ResponseSource) => void): boolean {
    const sinceMs = this._host.nowMs() - 1000 * agoSeconds;
    const sourceOf = () => this._responses?.sourceOf(sinceMs, bits / 8);
    const source = sourceOf();
    if (!this._responses || source || !canWait) {
      then(source);
      return true;
    }
    const settle = () => {
      stop();
      this._pending.delete(settle);
      then(sourceOf());
    };
    const stop = this._host.every(0, () => this._guard(settle));
    this._pending.add(settle);
    return false;
  }

  /** No longer waits for the browser. */
  settle(): void {
    for (const settle of this._pending) settle();
  }

  /** A session ends. This frees the browser's observer, too: no page has to detach the plugin from a destroyed player. */
  stop(): void {
    this.settle();
    if (this._responses) this._responses.stop();
  }
}
