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
    this.#visit(startSeconds, endSeconds, (at, seconds) => {
      this.#bits[at]! += rate * seconds;
      // Downloads may run beside each other.
      this.#busy[at] = Math.min(this.#cellSeconds, this.#busy[at]! + seconds);
    });
  }

  /** Mean rate while in use between two seconds of the session; NaN if used for less than `leastShare` of the time. */
  rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
    let bits = 0;
    let busy = 0;
    this.#visit(fromSeconds, toSeconds, (at, seconds) => {
      bits += seconds * this.#bits[at]!;
      busy += seconds * this.#busy[at]!;
    });
    const least = leastShare * (toSeconds - fromSeconds) * this.#cellSeconds;
    return busy > 0 && busy >= least ? bits / busy : Number.NaN;
  }

  /** The kept cells between two seconds, with the seconds that they have of this time. */
  #visit(fromSeconds: number, toSeconds: number, visit: (at: number, seconds: number) => void): void {
    const cells = this.#bits.length;
    const cellSeconds = this.#cellSeconds;
    let cell = Math.max(Math.floor(fromSeconds / cellSeconds), this.#newest - cells + 1, 0);
    for (; cell <= this.#newest && cell * cellSeconds < toSeconds; cell++) {
      const seconds = Math.min(toSeconds, (cell + 1) * cellSeconds) - Math.max(fromSeconds, cell * cellSeconds);
      visit(cell % cells, seconds);
    }
  }
}
