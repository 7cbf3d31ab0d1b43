/** Gathers the throughput observations of a session into bins of half a second of downloading. Constant memory. */

import type { Observation } from '../../abr/forecast.ts';
import type { Level } from './level-filters.ts';

/** A bin is closed at this much downloading: shorter ones show the sender's pauses rather than the link. */
export const BIN_SECONDS = 0.5;
/** A pause longer than this closes a bin early; between two segments there is a round trip. */
const MAX_PAUSE_SECONDS = 0.25;
/** Less downloading than this is no measurement. */
const MIN_BUSY_SECONDS = 0.06;
/** Reported times may overlap by this much (timers and progress events round to milliseconds). */
const SLACK_SECONDS = 0.02;
/** An observation that starts so much before the latest one shows that the session's clock was set back. */
const SET_BACK_SECONDS = 1;

export class RateBins {
  #startSeconds = 0;
  #endSeconds = Number.NEGATIVE_INFINITY;
  #busySeconds = 0;
  #bits = 0;

  /**
   * Tells `emit` of the bins that this observation completes, one or two or none: their values are ln of the rate in
   * bit/s. Impossible observations are ignored.
   */
  observe(observation: Observation, emit: (bin: Level) => void): void {
    if (observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    const seconds = endSeconds - startSeconds;
    if (!(seconds > 0 && isMoment(startSeconds) && isMoment(endSeconds))) return;
    if (!(bits >= 0 && bits < Number.POSITIVE_INFINITY)) return;
    const pause = startSeconds - this.#endSeconds;
    if (pause < -SLACK_SECONDS && pause > -SET_BACK_SECONDS) return;
    if (this.#busySeconds > 0 && (pause > MAX_PAUSE_SECONDS || pause <= -SET_BACK_SECONDS)) this.#close(emit);
    if (this.#busySeconds === 0) this.#startSeconds = startSeconds;
    this.#endSeconds = endSeconds;
    this.#busySeconds += seconds;
    this.#bits += bits;
    // Ten tenths of a second are a second in spite of rounding.
    if (this.#busySeconds > BIN_SECONDS - 1e-6) this.#close(emit);
  }

  #close(emit: (bin: Level) => void): void {
    if (this.#busySeconds >= MIN_BUSY_SECONDS) {
      emit({
        atSeconds: (this.#startSeconds + this.#endSeconds) / 2,
        seconds: this.#busySeconds,
        value: Math.log(this.#bits / this.#busySeconds + 1),
      });
    }
    this.#busySeconds = 0;
    this.#bits = 0;
  }
}

/** Whether it can be a moment of a session's clock: a number, and within 30 years. */
export function isMoment(seconds: number): boolean {
  return Math.abs(seconds) < 1e9;
}
