/** Collects throughput observations into bins of half a second of downloading. Constant memory. */

import type { Observation } from '../../../abr/forecast.ts';
import type { ThroughputPiece } from '../observation-meter.ts';
import type { Measurement } from './state-filters.ts';

/** Shorter bins would show the sender's pauses rather than the link. */
export const BIN_SECONDS = 0.5;
/** A longer pause closes a bin early. The pause between two segments is a round trip. */
const MAX_PAUSE_SECONDS = 0.25;
/** The end of a download is slower than the link, so pieces are held back for this long and dropped before a pause. */
const TAIL_SECONDS = 0.15;
/** Limit of held-back pieces: progress events are 50 to 100 ms apart. */
const MAX_TAIL_PIECES = 8;
const MIN_BUSY_SECONDS = 0.06;
/** Largest overlap or gap of contiguous observations, because timers round to milliseconds. */
const SLACK_SECONDS = 0.02;
/** An observation that starts this long before the latest observation shows that the session's clock was set back. */
const SET_BACK_SECONDS = 1;

/**
 * Returns the observer, which returns whether an observation is possible throughput and ignores others. `emit` receives
 * each bin with ln of the rate in bit/s.
 */
export function rateBins(emit: (bin: Measurement) => void) {
  const tail: ThroughputPiece[] = [];
  let latestSeconds = Number.NEGATIVE_INFINITY;
  let binStart = 0;
  let binEnd = 0;
  let busySeconds = 0;
  let binBits = 0;

  function close(): void {
    if (busySeconds >= MIN_BUSY_SECONDS) {
      const value = Math.log(binBits / busySeconds + 1);
      emit({ atSeconds: (binStart + binEnd) / 2, seconds: busySeconds, value });
    }
    busySeconds = 0;
    binBits = 0;
  }

  return (observation: Observation): observation is ThroughputPiece => {
    if (observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    if (!(endSeconds > startSeconds && isMoment(startSeconds) && isMoment(endSeconds))) return false;
    if (!(bits >= 0 && bits < Number.POSITIVE_INFINITY)) return false;
    const pause = startSeconds - latestSeconds;
    if (pause < -SLACK_SECONDS && pause > -SET_BACK_SECONDS) return false;
    if (Math.abs(pause) > SLACK_SECONDS) {
      tail.length = 0;
      if (pause > MAX_PAUSE_SECONDS || pause < 0) close();
    }
    latestSeconds = endSeconds;
    tail.push(observation);
    while (tail.length > MAX_TAIL_PIECES || tail[0]!.endSeconds <= endSeconds - TAIL_SECONDS) {
      const piece = tail.shift()!;
      if (busySeconds === 0) binStart = piece.startSeconds;
      binEnd = piece.endSeconds;
      busySeconds += piece.endSeconds - piece.startSeconds;
      binBits += piece.bits;
      // Tolerance for rounding of five tenths of a second.
      if (busySeconds > BIN_SECONDS - 1e-6) close();
    }
    return true;
  };
}

/** Whether `seconds` is a possible time of a session's clock: a number within 30 years. */
export function isMoment(seconds: number): boolean {
  return Math.abs(seconds) < 1e9;
}
