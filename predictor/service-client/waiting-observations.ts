/** The observations of the session that are not yet reported. */

import type { Observation } from '../../abr/forecast.ts';

/** Observations kept without a connection: 5 s in tenths. The service uses the last 1.5 s. */
const MOST_WAITING = 50;
const OLDEST_SECONDS = 8;

export class WaitingObservations {
  private _waiting: Observation[] = [];

  add(observation: Observation): void {
    this._waiting.push(observation);
    if (this._waiting.length > MOST_WAITING) this._waiting.shift();
  }

  clear(): void {
    this._waiting = [];
  }

  /** Takes the observations to report, in the service's form, and forgets all. `utcMs`: UTC of the service at a second. */
  take(nowSeconds: number, utcMs: (seconds: number) => number): object[] {
    const oldest = nowSeconds - OLDEST_SECONDS;
    const waiting = this._waiting;
    this._waiting = [];
    const reported = waiting.map((observation): object[] => {
      if (observation.kind === 'request-latency') {
        const { kind, atSeconds, latencySeconds } = observation;
        const isReported = atSeconds > oldest && latencySeconds > 0;
        return isReported ? [{ kind, atMs: utcMs(atSeconds), latencyMs: latencySeconds * 1000 }] : [];
      }
      const { startSeconds, endSeconds, ...rest } = observation;
      // A report has the recent part of a long pause, and no old bits.
      const start = rest.kind === 'idle' ? Math.max(startSeconds, oldest) : startSeconds;
      const isReported = start >= oldest && endSeconds > start;
      return isReported ? [{ ...rest, startMs: utcMs(start), endMs: utcMs(endSeconds) }] : [];
    });
    return ([] as object[]).concat(...reported);
  }
}
