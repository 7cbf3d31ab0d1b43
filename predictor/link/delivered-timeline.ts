/** The rate of a link while it was in use, over the last `memorySeconds`. Constant memory. */
export function deliveredTimeline(memorySeconds: number, cellSeconds = 0.5) {
  const cells = Math.ceil(memorySeconds / cellSeconds) + 2;
  const cellBits = new Float64Array(cells);
  const cellBusy = new Float64Array(cells);
  /** The newest cell, counted from second 0 of the session. */
  let newest = -1;

  /** The first kept cell from this second on. */
  const cellFrom = (seconds: number) => Math.max(Math.floor(seconds / cellSeconds), newest - cells + 1, 0);
  /** Seconds that a cell has of the time between two. */
  const secondsIn = (cell: number, fromSeconds: number, toSeconds: number) =>
    Math.min(toSeconds, (cell + 1) * cellSeconds) - Math.max(fromSeconds, cell * cellSeconds);

  return {
    /** Adds `bits` that arrived evenly between two times, in ascending order of ends. */
    add(startSeconds: number, endSeconds: number, bits: number): void {
      const last = Math.floor(endSeconds / cellSeconds);
      for (let cell = Math.max(newest, last - cells) + 1; cell <= last; cell++) {
        cellBits[cell % cells] = cellBusy[cell % cells] = 0;
      }
      newest = Math.max(newest, last);
      const rate = bits / (endSeconds - startSeconds);
      for (let cell = cellFrom(startSeconds); cell <= newest && cell * cellSeconds < endSeconds; cell++) {
        const at = cell % cells;
        const seconds = secondsIn(cell, startSeconds, endSeconds);
        cellBits[at]! += rate * seconds;
        // Downloads may be concurrent.
        cellBusy[at] = Math.min(cellSeconds, cellBusy[at]! + seconds);
      }
    },

    /** Mean rate between two times while the link was in use; NaN if it was for less than `leastShare` of the time. */
    rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
      let bits = 0;
      let busy = 0;
      for (let cell = cellFrom(fromSeconds); cell <= newest && cell * cellSeconds < toSeconds; cell++) {
        const seconds = secondsIn(cell, fromSeconds, toSeconds);
        bits += seconds * cellBits[cell % cells]!;
        busy += seconds * cellBusy[cell % cells]!;
      }
      const least = leastShare * (toSeconds - fromSeconds) * cellSeconds;
      return busy > 0 && busy >= least ? bits / busy : Number.NaN;
    },
  };
}
