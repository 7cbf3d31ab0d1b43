/** The clock of a session, which starts with the first media request of any type, and UTC beside it. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Events } from './events.ts';
import type { TimeSource } from './options.ts';

/** The clocks at a decision. */
export type Clocks = Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;

export class SessionClock {
  #startMs: number | undefined;

  constructor(
    private readonly timeSource: TimeSource,
    private readonly events: Events,
  ) {}

  get isRunning(): boolean {
    return this.#startMs !== undefined;
  }

  start(): void {
    this.#startMs = performance.now();
  }

  /** Another session begins. */
  reset(): void {
    this.#startMs = undefined;
  }

  /** Seconds since the first media request; 0 before it. */
  nowSeconds(): number {
    return this.#startMs === undefined ? 0 : (performance.now() - this.#startMs) / 1000;
  }

  /** Without UTC where the time source does not know it. */
  read(): Clocks {
    const utc = this.events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds } = this.timeSource.now();
      if (!(Number.isFinite(utcMs) && uncertaintySeconds >= 0)) throw new Error(`${utcMs} +- ${uncertaintySeconds}`);
      return { utcMs, utcUncertaintySeconds: uncertaintySeconds };
    });
    return { nowSeconds: this.nowSeconds(), ...utc };
  }
}
