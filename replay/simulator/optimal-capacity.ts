/**
 * An upper bound of what the rest of a session can add, by capacity: the remaining segments share the bits that the
 * link delivers until the last one is due. For any price per bit, gains - price x sizes + price x capacity is an upper
 * bound (Lagrange); the bound is the least over a few prices.
 */

import type { SessionProblem } from './optimal-problem.ts';

/** The prices are the gains per bit of a step up the ladder, times these, because sizes vary between segments. */
const PRICE_FACTORS = [0.9, 1, 1.1];
/** Prices with a smaller relative difference are equal. */
const SAME_PRICE = 0.01;

/** Length of the cells of waited time. */
const CELL_SECONDS = 0.5;

export class CapacityBound {
  private readonly prices: number[];
  /** `[price][finished segments]`: the maximum of gains - price x sizes of the rest. */
  private readonly pricedGains: Float64Array[];
  /** `[price][cell of waited time]`: the maximum of price x capacity - cost of waiting, from this cell on. */
  private readonly pricedCapacity: Float64Array[];

  /** `waitGridSeconds`: the grid to which callers round waited time down. */
  constructor(
    private readonly problem: SessionProblem,
    waitGridSeconds: number,
  ) {
    const capacityBits = capacityByWait(problem, waitGridSeconds);
    this.prices = pricesOf(problem);
    this.pricedGains = this.prices.map((price) => pricedGains(problem, price));
    this.pricedCapacity = this.prices.map((price) => pricedCapacity(problem, price, capacityBits));
  }

  /**
   * The most that can be added to the sum, including the cost of all waiting, after `done` segments and `waitedSeconds`
   * of waiting, if the next request leaves at `requestSeconds`.
   */
  toCome(done: number, waitedSeconds: number, requestSeconds: number): number {
    const cell = Math.floor(waitedSeconds / CELL_SECONDS);
    const bits = this.problem.link.cumulativeBits(requestSeconds);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.prices.length; i++) {
      const bound = this.pricedGains[i]![done]! + this.pricedCapacity[i]![cell]! - this.prices[i]! * bits;
      if (bound < least) least = bound;
    }
    return least;
  }
}

/** 0, and the slopes of the concave hull of gain over mean size, times `PRICE_FACTORS`. */
function pricesOf({ gains, sizesBits, segmentCount, representationCount }: SessionProblem): number[] {
  const meanBits = Float64Array.from(gains, (_, representation) => {
    let sum = 0;
    for (let segment = 0; segment < segmentCount; segment++)
      sum += sizesBits[segment * representationCount + representation]!;
    return sum / segmentCount;
  });
  const slopes: number[] = [];
  for (let from = 0; from < representationCount - 1; ) {
    let steepest = from + 1;
    const slopeTo = (to: number) => (gains[to]! - gains[from]!) / (meanBits[to]! - meanBits[from]!);
    for (let to = from + 2; to < representationCount; to++) if (slopeTo(to) >= slopeTo(steepest)) steepest = to;
    slopes.push(slopeTo(steepest));
    from = steepest;
  }
  const prices = [0];
  for (const price of slopes.flatMap((slope) => PRICE_FACTORS.map((factor) => factor * slope)).sort((a, b) => a - b)) {
    if (price > 0 && Number.isFinite(price) && price > prices.at(-1)! * (1 + SAME_PRICE)) prices.push(price);
  }
  return prices;
}

function pricedGains(problem: SessionProblem, price: number): Float64Array {
  const { gains, sizesBits, segmentCount, representationCount } = problem;
  const sums = new Float64Array(segmentCount + 1);
  for (let segment = segmentCount - 1; segment >= 0; segment--) {
    let most = Number.NEGATIVE_INFINITY;
    for (let representation = 0; representation < representationCount; representation++) {
      most = Math.max(
        most,
        gains[representation]! - price * sizesBits[segment * representationCount + representation]!,
      );
    }
    // A session that is cut off lacks segments, so a segment need not add a loss.
    sums[segment] = sums[segment + 1]! + Math.max(0, most);
  }
  return sums;
}

/** The most bits that can arrive until the last segment is due, by cell of waited time. */
function capacityByWait(problem: SessionProblem, waitGridSeconds: number): Float64Array {
  const { link, segmentCount, segmentSeconds, browser, cutoffSeconds } = problem;
  const dueSeconds = (segmentCount - 1) * segmentSeconds - browser.stallLevelSeconds;
  const bits = new Float64Array(Math.ceil(cutoffSeconds / CELL_SECONDS) + 1);
  for (let cell = 0; cell < bits.length; cell++) {
    // The wait may be up to the end of the cell plus the rounding.
    bits[cell] = link.cumulativeBits(dueSeconds + (cell + 1) * CELL_SECONDS + waitGridSeconds);
  }
  return bits;
}

function pricedCapacity(problem: SessionProblem, price: number, capacityBits: Float64Array): Float64Array {
  const most = new Float64Array(capacityBits.length);
  let best = Number.NEGATIVE_INFINITY;
  for (let cell = most.length - 1; cell >= 0; cell--) {
    best = Math.max(best, price * capacityBits[cell]! - problem.mu * cell * CELL_SECONDS);
    most[cell] = best;
  }
  return most;
}
