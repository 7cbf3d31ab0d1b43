/**
 * A planning problem: the numbers of a player state that a plan depends on, in typed arrays that are reused.
 *
 * A plan runs on the clock. So buffer levels and segment durations are divided by the playback rate here: at rate 2 a
 * segment of 4 s adds 2 s to what the buffer lasts. Only `gain` counts seconds of media (../qoe.ts).
 */

import type { PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS, switchCost } from '../qoe.ts';

export class Problem {
  /** Planned segments. */
  depth = 0;
  /** Representations. */
  count = 0;
  /** Media in a segment. */
  mediaSeconds = 0;
  /** How long a segment plays. */
  segmentSeconds = 0;
  mu = 0;
  /** The first download is free: while the player is paused it makes nobody wait. Later ones meet a playing player. */
  isPaused = false;
  /** The buffer drains during the first download: there has been a picture, and the player is not paused. */
  plays = true;
  /** How long the buffer lasts. */
  bufferSeconds = 0;
  /** Longest that the buffer may last when a request leaves; Infinity where the plan knows no cap. */
  roomSeconds = Number.POSITIVE_INFINITY;
  /** Largest |q|: the scale on which plan values are compared. */
  largestQuality = 0;
  /** Per representation: q * segmentSeconds/4. */
  gain = new Float64Array(0);
  /** `[last * count + next]`: lambda * |q - q|. */
  switching = new Float64Array(0);
  /** `[next]`: the same from the segment before the plan. */
  firstSwitching = new Float64Array(0);
  /** `[segment * count + representation]`. */
  sizesBits = new Float64Array(0);
  #capacity = 0;
  readonly #horizon: number;
  readonly #bufferCap: boolean;

  constructor(horizon: number, bufferCap: boolean) {
    this.#horizon = horizon;
    this.#bufferCap = bufferCap;
  }

  /**
   * If fewer segments are left than the horizon has, the plan is shorter. If sizes are known for fewer segments than the
   * plan has, the last row stands for the rest; without any row, sizes are bitrate * duration.
   */
  read(state: PlayerState): void {
    const { ladderBps, weights, upcomingSizesBits, segmentSeconds, playbackRate } = state;
    const count = ladderBps.length;
    this.#reserve(count);
    this.count = count;
    this.depth = Math.max(1, Math.min(this.#horizon, Math.floor(state.segmentsRemaining) || 1));
    this.mediaSeconds = segmentSeconds;
    this.segmentSeconds = segmentSeconds / playbackRate;
    this.mu = weights.mu;
    this.isPaused = state.isPaused;
    this.plays = state.started && !state.isPaused;
    this.bufferSeconds = state.bufferLevelSeconds / playbackRate;
    this.roomSeconds = this.#bufferCap
      ? Math.max(0, state.bufferCapSeconds - segmentSeconds) / playbackRate
      : Number.POSITIVE_INFINITY;

    const { gain, switching, firstSwitching, sizesBits } = this;
    this.largestQuality = 0;
    for (let r = 0; r < count; r++) {
      const quality = weights.quality(ladderBps[r]!);
      gain[r] = quality;
      firstSwitching[r] = switchCost(weights, state.previousBitrateBps, ladderBps[r]!);
      this.largestQuality = Math.max(this.largestQuality, Math.abs(quality));
    }
    for (let last = 0; last < count; last++) {
      for (let next = 0; next < count; next++) {
        switching[last * count + next] = weights.lambda * Math.abs(gain[next]! - gain[last]!);
      }
    }
    const units = segmentSeconds / QOE_UNIT_SECONDS;
    for (let r = 0; r < count; r++) gain[r] = gain[r]! * units;

    const rows = upcomingSizesBits.length;
    for (let k = 0; k < this.depth; k++) {
      const row = rows > 0 ? upcomingSizesBits[Math.min(k, rows - 1)] : undefined;
      for (let r = 0; r < count; r++) sizesBits[k * count + r] = row?.[r] ?? ladderBps[r]! * segmentSeconds;
    }
  }

  #reserve(count: number): void {
    if (count <= this.#capacity) return;
    this.#capacity = count;
    this.gain = new Float64Array(count);
    this.switching = new Float64Array(count * count);
    this.firstSwitching = new Float64Array(count);
    this.sizesBits = new Float64Array(this.#horizon * count);
  }
}
