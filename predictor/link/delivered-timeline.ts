/** The rate of a link while it was in use, over the last `memorySeconds`. Constant memory. */
export function deliveredTimeline(memorySeconds: number, cellSeconds = 0.5) {
  const cells = Math.ceil(memorySeconds / cellSeconds) + 2;
  const cellBits = new Float64Array(cells);
  const cellBusy = new Float64Array(cells);
  /** The newest cell, counted from second 0 of the session. */
  let newest = -1;

  /** Visits the kept cells between two times, with their seconds of this time. */
  function visit(fromSeconds: number, toSeconds: number, each: (at: number, seconds: number) => void): void {
    let cell = Math.max(Math.floor(fromSeconds / cellSeconds), newest - cells + 1, 0);
    for (; cell <= newest && cell * cellSeconds < toSeconds; cell++) {
      const seconds = Math.min(toSeconds, (cell + 1) * cellSeconds) - Math.max(fromSeconds, cell * cellSeconds);
      each(cell % cells, seconds);
    }
  }

  return {
    /** Adds `bits` that arrived evenly between two times, in ascending order of ends. */
    add(startSeconds: number, endSeconds: number, bits: number): void {
      const last = Math.floor(endSeconds / cellSeconds);
      for (let cell = Math.max(newest, last - cells) + 1; cell <= last; cell++) {
        cellBits[cell % cells] = cellBusy[cell % cells] = 0;
      }
      newest = Math.max(newest, last);
      const rate = bits / (endSeconds - startSeconds);
      visit(startSeconds, endSeconds, (at, seconds) => {
        cellBits[at]! += rate * seconds;
        // Downloads may be concurrent.
        cellBusy[at] = Math.min(cellSeconds, cellBusy[at]! + seconds);
      });
    },

    /** Mean rate between two times while the link was in use; NaN if it was for less than `leastShare` of the time. */
    rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
      let bits = 0;
      let busy = 0;
      visit(fromSeconds, toSeconds, (at, seconds) => {
        bits += seconds * cellBits[at]!;
        busy += seconds * cellBusy[at]!;
      });
      const least = leastShare * (toSeconds - fromSeconds) * cellSeconds;
      return busy > 0 && busy >= least ? bits / busy : Number.NaN;
    },
  };
}
