/**
 * Upper bounds on the value of the rest of a plan.
 *
 * F_k(B, last), the best value of the segments from k on with B seconds in the buffer, grows with B by at most mu per
 * second. So each second of download may be charged a price 0 <= p <= mu instead of the true mu * max(d - B, 0), and
 *
 *   F_k(B, last) <= A_p[k][last] + p * B
 *
 * with A_p from a backward recursion over representations alone: a Lagrangian relaxation of "no stalls". Every price
 * gives a bound. A few prices around the tightest one at the root are tabulated per plan; a node takes the least bound.
 *
 * With a buffer cap the price can only pay for download time up to the room below the cap: the rest surely stalls and
 * costs mu.
 *
 * On a path of varying rate the bounds take their download times from a line above the path's cumulative curve,
 * bits(t) <= a + c * t: a download takes bits / c on it, and the line has a head start of a / c.
 */

import type { Problem } from './problem.ts';

/** Prices tried in the search for the tightest, which takes three to six. */
const MAX_SEARCHED = 6;
/** Prices beside the tightest, as multiples of it, because deeper nodes have their own tightest price. */
const BESIDE = [0.7, 1.4];

/** Stride of `tables`: the largest number of prices. */
export const MAX_TABLES = MAX_SEARCHED + BESIDE.length;

/** A line above a path's cumulative curve: bits(t) <= bits + t / secondsPerBit. */
export interface CoveringLine {
  secondsPerBit: number;
  bits: number;
}

export interface BoundsBasis {
  /** `[segment * count + representation]`: duration of each download, on the path or on the line. */
  seconds: Float64Array;
  /** Buffer at the root, including a line's head start. */
  bufferSeconds: number;
  /** Largest buffer that a bound may count on; Infinity on a path of varying rate. */
  roomSeconds: number;
  /** On a path of varying rate, if one was found. */
  line?: CoveringLine | undefined;
}

interface RootBound {
  price: number;
  bound: number;
  slope: number;
}

export class Bounds {
  tableCount = 0;
  readonly prices = new Float64Array(MAX_TABLES);
  /** `[(k * count + last) * MAX_TABLES + table]`, k = segments chosen before: A. */
  tables = new Float64Array(0);
  /** Largest buffer that a bound may count on. */
  roomSeconds = Number.POSITIVE_INFINITY;
  /** The line's 1 / c and a; 0 without a line. */
  lineSecondsPerBit = 0;
  lineBits = 0;

  /** `[segment * count + representation]`: the download seconds behind the tables. */
  #seconds = new Float64Array(0);
  #tableSeconds = new Float64Array(0);
  #net = new Float64Array(0);
  #netSeconds = new Float64Array(0);
  readonly #horizon: number;

  constructor(horizon: number) {
    this.#horizon = horizon;
  }

  /** Tabulates bounds. On a path of varying rate, varying-paths.ts provides seconds, buffer and line. */
  make(problem: Problem, basis: BoundsBasis): void {
    const { seconds, bufferSeconds, roomSeconds, line } = basis;
    this.#reset(problem);
    this.roomSeconds = roomSeconds;
    this.lineSecondsPerBit = line?.secondsPerBit ?? 0;
    this.lineBits = line?.bits ?? 0;
    this.#seconds.set(seconds.subarray(0, problem.depth * problem.count));
    this.#choosePrices(problem, bufferSeconds);
  }

  #reset({ count }: Problem): void {
    this.tableCount = 0;
    if (count <= this.#net.length) return;
    const cells = this.#horizon * count;
    this.tables = new Float64Array(cells * MAX_TABLES);
    this.#seconds = new Float64Array(cells);
    this.#tableSeconds = new Float64Array(cells);
    this.#net = new Float64Array(count);
    this.#netSeconds = new Float64Array(count);
  }

  /**
   * The bound at the root is convex and piecewise linear in the price. The next price to try is where the tangents on
   * both sides of the least bound meet (Kelley's cutting planes in one dimension).
   */
  #choosePrices(problem: Problem, bufferSeconds: number): void {
    const { mu } = problem;
    let low = this.#tabulate(problem, 0, bufferSeconds);
    if (low.slope >= 0 || mu <= 0) return;
    let high = this.#tabulate(problem, mu, bufferSeconds);
    while (this.tableCount < MAX_SEARCHED && high.slope > 0) {
      const price =
        (low.bound - low.price * low.slope - (high.bound - high.price * high.slope)) / (high.slope - low.slope);
      if (!(price > low.price && price < high.price)) break;
      const found = this.#tabulate(problem, price, bufferSeconds);
      if (found.slope < 0) low = found;
      else high = found;
    }
    const tightest = this.prices[this.tableCount - 1]!;
    for (const factor of BESIDE) {
      if (tightest * factor < mu) this.#tabulate(problem, tightest * factor, bufferSeconds);
    }
  }

  /** Adds the table of one price; returns the bound at the root and its slope in the price. */
  #tabulate(problem: Problem, price: number, bufferSeconds: number): RootBound {
    const { depth, count, mu, gain, switching, firstSwitching, segmentSeconds } = problem;
    const { roomSeconds, tables } = this;
    const net = this.#net;
    const netSeconds = this.#netSeconds;
    const seconds = this.#seconds;
    const tableSeconds = this.#tableSeconds;
    const table = this.tableCount++;
    this.prices[table] = price;
    const refill = Math.min(segmentSeconds, roomSeconds);
    for (let k = depth - 1; k >= 0; k--) {
      const isLast = k === depth - 1;
      for (let r = 0; r < count; r++) {
        const cell = k * count + r;
        const d = seconds[cell]!;
        if (d === Number.POSITIVE_INFINITY) {
          net[r] = Number.NEGATIVE_INFINITY;
          netSeconds[r] = 0;
          continue;
        }
        const paid = Math.min(d, roomSeconds);
        const after = cell + count;
        net[r] =
          gain[r]! -
          price * paid -
          mu * (d - paid) +
          (isLast ? 0 : price * refill + tables[after * MAX_TABLES + table]!);
        netSeconds[r] = isLast ? paid : paid - refill + tableSeconds[after]!;
      }
      for (let last = 0; last < (k === 0 ? 1 : count); last++) {
        const costs = k === 0 ? firstSwitching : switching;
        const row = last * count;
        let best = Number.NEGATIVE_INFINITY;
        let bestNext = 0;
        for (let next = 0; next < count; next++) {
          const value = net[next]! - costs[row + next]!;
          if (value > best) {
            best = value;
            bestNext = next;
          }
        }
        tables[(k * count + last) * MAX_TABLES + table] = best;
        tableSeconds[k * count + last] = netSeconds[bestNext]!;
      }
    }
    return { price, bound: tables[table]! + price * bufferSeconds, slope: bufferSeconds - tableSeconds[0]! };
  }
}
