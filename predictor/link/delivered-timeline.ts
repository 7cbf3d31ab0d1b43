/** The rate of a link over time while it was in use, to evaluate past forecasts. Constant memory. */

export class DeliveredTimeline {
  readonly #bits: Float64Array;
  readonly #busy: Float64Array;
  /** The newest cell, counted from second 0 of the session. */
  #newest = -1;

  /** Keeps the last `memorySeconds`, in cells of `cellSeconds`. */
  constructor(
    memorySeconds: number,
    private readonly cellSeconds = 0.5,
  ) {
    const cells = Math.ceil(memorySeconds / cellSeconds) + 2;
    this.#bits = new Float64Array(cells);
    this.#busy = new Float64Array(cells);
  }

  /** Adds `bits` that arrived evenly between two seconds of the session, also for requests beside each other. */
  add(startSeconds: number, endSeconds: number, bits: number): void {
    const rate = bits / (endSeconds - startSeconds);
    const last = Math.floor(endSeconds / this.cellSeconds);
    const cells = this.#bits.length;
    for (let cell = Math.max(this.#newest + 1, last - cells + 1); cell <= last; cell++) {
      this.#bits[cell % cells] = 0;
      this.#busy[cell % cells] = 0;
    }
    this.#newest = Math.max(this.#newest, last);
    const first = Math.max(Math.floor(startSeconds / this.cellSeconds), this.#newest - cells + 1, 0);
    for (let cell = first; cell <= last; cell++) {
      const seconds = this.#overlap(cell, startSeconds, endSeconds);
      if (seconds <= 0) continue;
      this.#bits[cell % cells]! += rate * seconds;
      // Rounding may exceed it.
      this.#busy[cell % cells] = Math.min(this.cellSeconds + 1e-9, this.#busy[cell % cells]! + seconds);
    }
  }

  /** Mean rate while in use between two seconds of the session; NaN if used for less than `leastShare` of the time. */
  rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
    const cells = this.#bits.length;
    const first = Math.max(Math.floor(fromSeconds / this.cellSeconds), this.#newest - cells + 1, 0);
    let bits = 0;
    let busy = 0;
    for (let cell = first; cell <= this.#newest && cell * this.cellSeconds < toSeconds; cell++) {
      const share = this.#overlap(cell, fromSeconds, toSeconds) / this.cellSeconds;
      bits += share * this.#bits[cell % cells]!;
      busy += share * this.#busy[cell % cells]!;
    }
    return busy > 0 && busy >= leastShare * (toSeconds - fromSeconds) ? bits / busy : Number.NaN;
  }

  #overlap(cell: number, fromSeconds: number, toSeconds: number): number {
    return Math.min(toSeconds, (cell + 1) * this.cellSeconds) - Math.max(fromSeconds, cell * this.cellSeconds);
  }
}
