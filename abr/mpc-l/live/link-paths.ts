/** What a link delivers in its futures, in cells of 0.1 s, for plans at the live edge. */

import type { CapacityPath } from '../../mpc/capacity-path.ts';

export const CELL_SECONDS = 0.1;
/** Capacity is tabulated for this long. Later the mean capacity goes on. */
export const DRAWN_SECONDS = 10;
export const CELLS_PER_SECOND = 10;
export const CELLS = DRAWN_SECONDS * CELLS_PER_SECOND;
/** Stands for a dead link and keeps divisions finite. */
export const LEAST_CELL_BPS = 1e3;

export class LinkPaths {
  /** `[future * (CELLS + 1) + cell]`: bits from now to the cell's start. */
  readonly bits: Float64Array;
  /** The last transfer: the row of its future, its end, the bits until its end, and its cell. */
  private _row = -1;
  private _atSeconds = 0;
  private _untilBits = 0;
  private _cell = 0;

  /** @param count number of futures, which may decrease later */
  constructor(public count: number) {
    this.bits = new Float64Array(count * (CELLS + 1));
  }

  /** Fills the table of future 0 from a path. */
  sample(path: Pick<CapacityPath, 'cumulativeBits'>): void {
    const { bits } = this;
    for (let cell = 1; cell <= CELLS; cell++) {
      bits[cell] = Math.max(bits[cell - 1]! + LEAST_CELL_BPS * CELL_SECONDS, path.cumulativeBits(cell * CELL_SECONDS));
    }
  }

  /** Bits from now to `seconds` from now. */
  bitsUntil(future: number, seconds: number): number {
    const at = Math.min(CELLS, Math.max(0, seconds * CELLS_PER_SECOND));
    const cell = Math.min(CELLS - 1, Math.floor(at));
    const i = future * (CELLS + 1) + cell;
    return this.bits[i]! + (at - cell) * (this.bits[i + 1]! - this.bits[i]!);
  }

  /**
   * Seconds from now at which `bits` sent from `fromSeconds` on have arrived. If the transfer starts at the end of the
   * last transfer, it continues there.
   */
  arrivalSeconds(future: number, fromSeconds: number, bits: number): number {
    const table = this.bits;
    const row = future * (CELLS + 1);
    if (row !== this._row || fromSeconds !== this._atSeconds) {
      this._row = row;
      this._untilBits = this.bitsUntil(future, fromSeconds);
      this._cell = Math.min(CELLS - 1, Math.max(0, Math.floor(fromSeconds * CELLS_PER_SECOND)));
    }
    const until = this._untilBits + bits;
    this._untilBits = until;
    const all = table[row + CELLS]!;
    if (until >= all) {
      const late = Math.min(bits, until - all) / all;
      this._atSeconds = Math.max(fromSeconds, DRAWN_SECONDS) + late * DRAWN_SECONDS;
      return this._atSeconds;
    }
    let cell = row + this._cell;
    while (table[cell + 1]! <= until) cell++;
    this._cell = cell - row;
    const low = table[cell]!;
    this._atSeconds = (cell - row + (until - low) / (table[cell + 1]! - low)) * CELL_SECONDS;
    return this._atSeconds;
  }
}
