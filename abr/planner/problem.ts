/** A planning problem as numbers in a row: what a player state asks of a plan, in typed arrays that are reused. */

import type { PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS } from '../qoe.ts';

export class Problem {
  /** Segments that are planned. */
  depth = 0;
  /** Representations. */
  count = 0;
  segmentSeconds = 0;
  mu = 0;
  started = true;
  bufferSeconds = 0;
  /** Most seconds in the buffer when a request leaves; Infinity where the plan knows no cap. */
  roomSeconds = Number.POSITIVE_INFINITY;
  /** Largest |q|: the scale that values are compared on. */
  largestQuality = 0;
  /** Per representation: q * segmentSeconds/4. */
  gain = new Float64Array(0);
  /** `[last * count + next]`: lambda * |q - q|. */
  switching = new Float64Array(0);
  /** The same from the segment before the plan; all zero where there is none. */
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
   * Fewer segments left than the horizon shorten it. Where fewer rows of sizes are known than segments planned, the
   * last row stands for the rest; with no row at all, sizes are bitrate * duration.
   */
  read(state: PlayerState): void {
    const { ladderBps, weights, upcomingSizesBits, segmentSeconds } = state;
    const count = ladderBps.length;
    this.#reserve(count);
    this.count = count;
    this.depth = Math.max(1, Math.min(this.#horizon, Math.floor(state.segmentsRemaining) || 1));
    this.segmentSeconds = segmentSeconds;
    this.mu = weights.mu;
    this.started = state.started;
    this.bufferSeconds = state.bufferLevelSeconds;
    this.roomSeconds = this.#bufferCap
      ? Math.max(0, state.bufferCapSeconds - segmentSeconds)
      : Number.POSITIVE_INFINITY;

    const { gain, switching, firstSwitching, sizesBits } = this;
    const { previousBitrateBps } = state;
    // A bitrate that has no quality (off QoE-HD's table) counts as no segment before.
    const previous = previousBitrateBps === undefined ? Number.NaN : weights.quality(previousBitrateBps);
    this.largestQuality = 0;
    for (let r = 0; r < count; r++) {
      const quality = weights.quality(ladderBps[r]!);
      gain[r] = quality;
      firstSwitching[r] = Number.isNaN(previous) ? 0 : weights.lambda * Math.abs(quality - previous);
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
