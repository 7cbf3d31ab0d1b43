/** What a link delivers in one or several futures, tabulated in cells of 0.1 s for plans at the live edge. */

import type { CapacityPath } from '../../mpc/capacity-path.ts';

// Local bindings, because the loops over the cells dominate the cost.
export const CELL_SECONDS = 0.1;
/** Capacity is tabulated for this long from now on. Later it goes on as on average. */
export const DRAWN_SECONDS = 10;
export const CELLS = Math.round(DRAWN_SECONDS / CELL_SECONDS);
/** Stands for a dead link and keeps divisions finite. */
export const LEAST_CELL_BPS = 1e3;

export class LinkPaths {
  /** `[future * (CELLS + 1) + cell]`: bits from now to the cell's start. */
  readonly bits: Float64Array;
  private _cell = 0;

  /** @param count futures */
  constructor(readonly count: number) {
    this.bits = new Float64Array(count * (CELLS + 1));
  }

  /** Fills the table of one future from a path. */
  sample(path: CapacityPath): void {
    const { bits } = this;
    for (let cell = 1; cell <= CELLS; cell++) {
      bits[cell] = Math.max(bits[cell - 1]! + LEAST_CELL_BPS * CELL_SECONDS, path.cumulativeBits(cell * CELL_SECONDS));
    }
  }

  /** Bits from now to `seconds` from now. */
  bitsUntil(future: number, seconds: number): number {
    const at = Math.min(CELLS, Math.max(0, seconds / CELL_SECONDS));
    const cell = Math.min(CELLS - 1, Math.floor(at));
    const i = future * (CELLS + 1) + cell;
    return this.bits[i]! + (at - cell) * (this.bits[i + 1]! - this.bits[i]!);
  }

  /** Begins a series of transfers in one future, in order of time. */
  begin(): void {
    this._cell = 0;
  }

  /** When `bits` have arrived that start at `fromSeconds`; both in seconds from now. */
  arrivalSeconds(future: number, fromSeconds: number, bits: number): number {
    const row = future * (CELLS + 1);
    const all = this.bits[row + CELLS]!;
    const until = this.bitsUntil(future, fromSeconds) + bits;
    if (until >= all) {
      return Math.max(fromSeconds, DRAWN_SECONDS) + (Math.min(bits, until - all) / all) * DRAWN_SECONDS;
    }
    let cell = this._cell;
    while (this.bits[row + cell + 1]! < until) cell++;
    this._cell = cell;
    const low = this.bits[row + cell]!;
    return (cell + (until - low) / (this.bits[row + cell + 1]! - low)) * CELL_SECONDS;
  }
}
