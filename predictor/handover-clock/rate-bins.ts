/** Gathers the throughput observations of a session into bins of about a second of downloading. Constant memory. */

import type { Observation } from '../../abr/forecast.ts';

/** What came in one bin. Times are seconds of the session's clock. */
export interface RateBin {
  startSeconds: number;
  endSeconds: number;
  /** Seconds of downloading within it, > 0. */
  busySeconds: number;
  /** ln of the mean rate in bit/s while downloading; 0 where nothing came. */
  logRate: number;
  /** Seconds since the bin before, in which nothing was seen. 0 for the first. */
  gapSeconds: number;
}

/** A bin is closed at this much downloading: shorter ones show the sender's pauses rather than the link. */
const BIN_SECONDS = 1;
/** A pause longer than this closes a bin early; between two segments there is a round trip. */
const MAX_PAUSE_SECONDS = 0.25;
/** Less downloading than this is no measurement. */
const MIN_BUSY_SECONDS = 0.08;
/** Reported times may overlap by this much (timers and progress events round to milliseconds). */
const SLACK_SECONDS = 0.02;

export class RateBins {
  #startSeconds = 0;
  #endSeconds = Number.NEGATIVE_INFINITY;
  #busySeconds = 0;
  #bits = 0;
  #lastEndSeconds = Number.NaN;

  /** Tells the bins that this observation completed to `emit`: none, one, or two. Impossible observations are ignored. */
  observe(observation: Observation, emit: (bin: RateBin) => void): void {
    if (observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    const seconds = endSeconds - startSeconds;
    // Written so that NaN fails.
    if (!(seconds > 0 && seconds < Number.POSITIVE_INFINITY && bits >= 0 && bits < Number.POSITIVE_INFINITY)) return;
    if (!(startSeconds >= this.#endSeconds - SLACK_SECONDS)) return;
    if (this.#busySeconds > 0 && startSeconds - this.#endSeconds > MAX_PAUSE_SECONDS) this.#close(emit);
    if (this.#busySeconds === 0) this.#startSeconds = startSeconds;
    this.#endSeconds = endSeconds;
    this.#busySeconds += seconds;
    this.#bits += bits;
    if (this.#busySeconds > BIN_SECONDS - 1e-6) this.#close(emit);
  }

  #close(emit: (bin: RateBin) => void): void {
    if (this.#busySeconds >= MIN_BUSY_SECONDS) {
      const gapSeconds = Number.isNaN(this.#lastEndSeconds) ? 0 : this.#startSeconds - this.#lastEndSeconds;
      emit({
        startSeconds: this.#startSeconds,
        endSeconds: this.#endSeconds,
        busySeconds: this.#busySeconds,
        logRate: Math.log(this.#bits / this.#busySeconds + 1),
        gapSeconds: Math.max(0, gapSeconds),
      });
      this.#lastEndSeconds = this.#endSeconds;
    }
    this.#busySeconds = 0;
    this.#bits = 0;
  }
}
