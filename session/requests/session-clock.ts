/** The clock of a session, which starts with the first media request of any type, and UTC beside it. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
import type { Events } from '../page/events.ts';
import type { TimeSource } from '../page/option-types.ts';

/** The clocks at a decision. */
export type Clocks = Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;

/**
 * The clock is read more often than this during a download: timers of a hidden tab fire once a minute. After a longer
 * time the page was suspended, which tells nothing of the link.
 */
const SUSPENDED_MS = 90_000;

export class SessionClock {
  private _startMs: number | undefined;
  private _readMs = 0;

  constructor(
    private readonly _host: Pick<Host, 'nowMs'>,
    private readonly _parts: { timeSource: TimeSource; events: Events; inFlight: { readonly size: number } },
  ) {}

  get isRunning(): boolean {
    return this._startMs !== undefined;
  }

  start(): void {
    this._startMs = this._readMs = this._host.nowMs();
  }

  /** Another session begins. */
  reset(): void {
    this._startMs = undefined;
  }

  /** Seconds since the first media request, without downloads' time in a suspended page; 0 before it. */
  nowSeconds(): number {
    if (this._startMs === undefined) return 0;
    const nowMs = this._host.nowMs();
    if (this._parts.inFlight.size && nowMs - this._readMs > SUSPENDED_MS) this._startMs += nowMs - this._readMs;
    this._readMs = nowMs;
    return (nowMs - this._startMs) / 1000;
  }

  /** Without UTC where the time source does not know it. */
  read(): Clocks {
    const { events, timeSource } = this._parts;
    const utc = events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds } = timeSource.now();
      if (!(Number.isFinite(utcMs) && uncertaintySeconds >= 0)) throw new Error(`${utcMs} +- ${uncertaintySeconds}`);
      return { utcMs, utcUncertaintySeconds: uncertaintySeconds };
    });
    return { nowSeconds: this.nowSeconds(), ...utc };
  }
}
