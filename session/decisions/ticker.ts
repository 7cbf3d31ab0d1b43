/**
 * Runs parts of the core ten times a second, from a timer, because players emit no events in an outage. Browsers
 * throttle timers in hidden tabs but not progress events, which trigger the parts there.
 */

import { PACE_PERIOD_SECONDS } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
import type { Guard } from '../page/events.ts';
import type { SessionClock } from '../requests/session-clock.ts';

/** If the timer is this late, progress events trigger the parts. */
const LATE_TICK_SECONDS = 1.99 * PACE_PERIOD_SECONDS;

export interface Ticking {
  /** The timer runs while one of its parts needs it, and ticks these. */
  isNeeded(): boolean;
  /** `atSeconds`: on the session's clock. */
  readonly tick: (atSeconds: number) => void;
  /** Whether the first tick comes at once. Default false. */
  readonly isPrompt?: boolean;
}

export class Ticker {
  private _stopTimer: (() => void) | undefined;
  private _tickedSeconds = 0;

  constructor(
    private readonly _host: Pick<Host, 'every' | 'soon'>,
    private readonly _run: { clock: Pick<SessionClock, 'nowSeconds'>; guard: Guard; parts: readonly Ticking[] },
  ) {}

  /** A download has begun or ended. */
  update(): void {
    const { clock, guard, parts } = this._run;
    // The guard gives nothing after the plugin is detached.
    if (!guard(() => parts.some((part) => part.isNeeded()))) this.stop();
    else if (this._stopTimer === undefined) {
      this._tickedSeconds = clock.nowSeconds();
      this._stopTimer = this._host.every(1000 * PACE_PERIOD_SECONDS, this._tick);
      this._host.soon(() => this._tickParts(parts.filter(({ isPrompt }) => isPrompt)));
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
    this._tickedSeconds = this._run.clock.nowSeconds();
    this._tickParts(this._run.parts);
  };

  private _tickParts(parts: readonly Ticking[]): void {
    const { clock, guard } = this._run;
    for (const part of parts) if (part.isNeeded()) guard(part.tick, clock.nowSeconds());
  }
}
