/** The rate of a link over time while it was in use, to evaluate past forecasts. Constant memory. */

export class DeliveredTimeline {
  readonly #bits: Float64Array;
  readonly #busy: Float64Array;
  readonly #cellSeconds: number;
  /** The newest cell, counted from second 0 of the session. */
  #newest = -1;

  /** Keeps the last `memorySeconds`. */
  constructor(memorySeconds: number, cellSeconds = 0.5) {
    const cells = Math.ceil(memorySeconds / cellSeconds) + 2;
    this.#bits = new Float64Array(cells);
    this.#busy = new Float64Array(cells);
    this.#cellSeconds = cellSeconds;
  }

  /** Adds `bits` that arrived evenly between two seconds of the session, in ascending order of ends. */
  add(startSeconds: number, endSeconds: number, bits: number): void {
    const last = Math.floor(endSeconds / this.#cellSeconds);
    const cells = this.#bits.length;
    for (let cell = Math.max(this.#newest, last - cells) + 1; cell <= last; cell++) {
      this.#bits[cell % cells] = this.#busy[cell % cells] = 0;
    }
    this.#newest = Math.max(this.#newest, last);
    const rate = bits / (endSeconds - startSeconds);
    for (let cell = this.#cellAt(startSeconds); this.#begins(cell, endSeconds); cell++) {
      const at = cell % cells;
      const seconds = this.#secondsIn(cell, startSeconds, endSeconds);
      this.#bits[at]! += rate * seconds;
      // Downloads may run beside each other.
      this.#busy[at] = Math.min(this.#cellSeconds, this.#busy[at]! + seconds);
    }
  }

  /** Mean rate while in use between two seconds of the session; NaN if used for less than `leastShare` of the time. */
  rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
    let bits = 0;
    let busy = 0;
    const cells = this.#bits.length;
    for (let cell = this.#cellAt(fromSeconds); this.#begins(cell, toSeconds); cell++) {
      const seconds = this.#secondsIn(cell, fromSeconds, toSeconds);
      bits += seconds * this.#bits[cell % cells]!;
      busy += seconds * this.#busy[cell % cells]!;
    }
    const least = leastShare * (toSeconds - fromSeconds) * this.#cellSeconds;
    return busy > 0 && busy >= least ? bits / busy : Number.NaN;
  }

  /** The first kept cell at a second or after it. */
  #cellAt(seconds: number): number {
    return Math.max(Math.floor(seconds / this.#cellSeconds), this.#newest - this.#bits.length + 1, 0);
  }

  #begins(cell: number, beforeSeconds: number): boolean {
    return cell <= this.#newest && cell * this.#cellSeconds < beforeSeconds;
  }

  #secondsIn(cell: number, fromSeconds: number, toSeconds: number): number {
    return Math.min(toSeconds, (cell + 1) * this.#cellSeconds) - Math.max(fromSeconds, cell * this.#cellSeconds);
  }
}
