/** The rate of a link over time while it was in use, to evaluate past forecasts. Constant memory. */

const CELL_SECONDS = 0.5;

export class DeliveredTimeline {
  readonly #bits: Float64Array;
  readonly #busy: Float64Array;
  /** The newest cell, counted from second 0 of the session. */
  #newest = -1;

  /** Keeps the last `memorySeconds`. */
  constructor(memorySeconds: number) {
    const cells = Math.ceil(memorySeconds / CELL_SECONDS) + 2;
    this.#bits = new Float64Array(cells);
    this.#busy = new Float64Array(cells);
  }

  /** Adds `bits` that arrived evenly between two seconds of the session, in ascending order of ends. */
  add(startSeconds: number, endSeconds: number, bits: number): void {
    const rate = bits / (endSeconds - startSeconds);
    const last = Math.floor(endSeconds / CELL_SECONDS);
    const cells = this.#bits.length;
    for (let cell = Math.max(this.#newest + 1, last - cells + 1); cell <= last; cell++) {
      this.#bits[cell % cells] = 0;
      this.#busy[cell % cells] = 0;
    }
    this.#newest = Math.max(this.#newest, last);
    const first = Math.max(Math.floor(startSeconds / CELL_SECONDS), this.#newest - cells + 1, 0);
    for (let cell = first; cell <= last; cell++) {
      const seconds = overlap(cell, startSeconds, endSeconds);
      if (seconds <= 0) continue;
      this.#bits[cell % cells]! += rate * seconds;
      this.#busy[cell % cells]! += seconds;
    }
  }

  /** Mean rate while in use between two seconds of the session; NaN if used for less than `leastShare` of the time. */
  rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
    const cells = this.#bits.length;
    const first = Math.max(Math.floor(fromSeconds / CELL_SECONDS), this.#newest - cells + 1, 0);
    let bits = 0;
    let busy = 0;
    for (let cell = first; cell <= this.#newest && cell * CELL_SECONDS < toSeconds; cell++) {
      const share = overlap(cell, fromSeconds, toSeconds) / CELL_SECONDS;
      bits += share * this.#bits[cell % cells]!;
      busy += share * this.#busy[cell % cells]!;
    }
    return busy > 0 && busy >= leastShare * (toSeconds - fromSeconds) ? bits / busy : Number.NaN;
  }
}

function overlap(cell: number, fromSeconds: number, toSeconds: number): number {
  return Math.min(toSeconds, (cell + 1) * CELL_SECONDS) - Math.max(fromSeconds, cell * CELL_SECONDS);
}
