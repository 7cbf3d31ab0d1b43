/** Gathers the throughput observations of a session into bins of half a second of downloading. Constant memory. */

import type { Observation } from '../../abr/forecast.ts';
import type { Level } from './level-filters.ts';

const { abs, log } = Math;

/** A bin is closed at this much downloading: shorter ones show the sender's pauses rather than the link. */
export const BIN_SECONDS = 0.5;
/** A pause longer than this closes a bin early; between two segments there is a round trip. */
const MAX_PAUSE_SECONDS = 0.25;
/** The end of a download is slower than the link: it is held back for so long, and dropped when a pause follows. */
const TAIL_SECONDS = 0.15;
/** Pieces held back at most: progress events are 50 to 100 ms apart. */
const MAX_TAIL_PIECES = 8;
/** Less downloading than this is no measurement. */
const MIN_BUSY_SECONDS = 0.06;
/** Reported times may overlap by this much, or leave as much between them (timers round to milliseconds). */
const SLACK_SECONDS = 0.02;
/** An observation that starts so much before the latest one shows that the session's clock was set back. */
const SET_BACK_SECONDS = 1;

interface Piece {
  startSeconds: number;
  endSeconds: number;
  bits: number;
}

export class RateBins {
  #tail: Piece[] = [];
  #latestSeconds = Number.NEGATIVE_INFINITY;
  #startSeconds = 0;
  #endSeconds = 0;
  #busySeconds = 0;
  #bits = 0;

  /**
   * Tells `emit` of the bins that this observation completes: their values are ln of the rate in bit/s. Impossible
   * observations are ignored.
   */
  observe(observation: Observation, emit: (bin: Level) => void): void {
    if (observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    if (!(endSeconds > startSeconds && isMoment(startSeconds) && isMoment(endSeconds))) return;
    if (!(bits >= 0 && bits < Number.POSITIVE_INFINITY)) return;
    const pause = startSeconds - this.#latestSeconds;
    if (pause < -SLACK_SECONDS && pause > -SET_BACK_SECONDS) return;
    if (abs(pause) > SLACK_SECONDS) {
      this.#tail.length = 0;
      if (pause > MAX_PAUSE_SECONDS || pause < 0) this.#close(emit);
    }
    this.#latestSeconds = endSeconds;
    this.#tail.push({ startSeconds, endSeconds, bits });
    while (this.#tail.length > MAX_TAIL_PIECES || this.#tail[0]!.endSeconds <= endSeconds - TAIL_SECONDS) {
      this.#add(this.#tail.shift()!, emit);
    }
  }

  #add({ startSeconds, endSeconds, bits }: Piece, emit: (bin: Level) => void): void {
    if (this.#busySeconds === 0) this.#startSeconds = startSeconds;
    this.#endSeconds = endSeconds;
    this.#busySeconds += endSeconds - startSeconds;
    this.#bits += bits;
    // Five tenths of a second are half a second in spite of rounding.
    if (this.#busySeconds > BIN_SECONDS - 1e-6) this.#close(emit);
  }

  #close(emit: (bin: Level) => void): void {
    if (this.#busySeconds >= MIN_BUSY_SECONDS) {
      emit({
        atSeconds: (this.#startSeconds + this.#endSeconds) / 2,
        seconds: this.#busySeconds,
        value: log(this.#bits / this.#busySeconds + 1),
      });
    }
    this.#busySeconds = 0;
    this.#bits = 0;
  }
}

/** Whether it can be a moment of a session's clock: a number, and within 30 years. */
export function isMoment(seconds: number): boolean {
  return abs(seconds) < 1e9;
}
