/** Collects throughput observations into bins of half a second of downloading. Constant memory. */

import type { Observation } from '../../../abr/forecast.ts';
import type { ThroughputPiece } from '../observation-meter.ts';
import type { Measurement } from './state-filters.ts';

/** Downloading per bin: shorter bins would show the sender's pauses rather than the link. */
export const BIN_SECONDS = 0.5;
/** A longer pause closes a bin early; the pause between two segments is a round trip. */
const MAX_PAUSE_SECONDS = 0.25;
/** The end of a download is slower than the link: it is held back for this long, and dropped if a pause follows. */
const TAIL_SECONDS = 0.15;
/** The most pieces that are held back: progress events are 50 to 100 ms apart. */
const MAX_TAIL_PIECES = 8;
/** The least downloading in a bin. */
const MIN_BUSY_SECONDS = 0.06;
/** Largest overlap or gap of contiguous observations, because timers round to milliseconds. */
const SLACK_SECONDS = 0.02;
/** An observation that starts this long before the latest one shows that the session's clock was set back. */
const SET_BACK_SECONDS = 1;

export class RateBins {
  #tail: ThroughputPiece[] = [];
  #latestSeconds = Number.NEGATIVE_INFINITY;
  #startSeconds = 0;
  #endSeconds = 0;
  #busySeconds = 0;
  #bits = 0;

  /** `emit` receives each bin with ln of the rate in bit/s. */
  constructor(private readonly emit: (bin: Measurement) => void) {}

  /** Returns whether it is a possible observation of throughput; others are ignored. */
  observe(observation: Observation): boolean {
    if (observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    if (!(endSeconds > startSeconds && isMoment(startSeconds) && isMoment(endSeconds))) return false;
    if (!(bits >= 0 && bits < Number.POSITIVE_INFINITY)) return false;
    const pause = startSeconds - this.#latestSeconds;
    if (pause < -SLACK_SECONDS && pause > -SET_BACK_SECONDS) return false;
    if (Math.abs(pause) > SLACK_SECONDS) {
      this.#tail.length = 0;
      if (pause > MAX_PAUSE_SECONDS || pause < 0) this.#close();
    }
    this.#latestSeconds = endSeconds;
    this.#tail.push(observation);
    while (this.#tail.length > MAX_TAIL_PIECES || this.#tail[0]!.endSeconds <= endSeconds - TAIL_SECONDS) {
      this.#add(this.#tail.shift()!);
    }
    return true;
  }

  #add({ startSeconds, endSeconds, bits }: ThroughputPiece): void {
    if (this.#busySeconds === 0) this.#startSeconds = startSeconds;
    this.#endSeconds = endSeconds;
    this.#busySeconds += endSeconds - startSeconds;
    this.#bits += bits;
    // Tolerance for rounding of five tenths of a second.
    if (this.#busySeconds > BIN_SECONDS - 1e-6) this.#close();
  }

  #close(): void {
    if (this.#busySeconds >= MIN_BUSY_SECONDS) {
      this.emit({
        atSeconds: (this.#startSeconds + this.#endSeconds) / 2,
        seconds: this.#busySeconds,
        value: Math.log(this.#bits / this.#busySeconds + 1),
      });
    }
    this.#busySeconds = 0;
    this.#bits = 0;
  }
}

/** Whether it is a possible time of a session's clock: a number within 30 years. */
export function isMoment(seconds: number): boolean {
  return Math.abs(seconds) < 1e9;
}
