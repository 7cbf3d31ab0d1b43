/**
 * Upper bounds on what the rest of a plan can be worth.
 *
 * F_k(B, last), the best value of the segments from k on with B seconds in the buffer, grows with B by at most mu per
 * second. So each second of download may be charged a price 0 <= p <= mu instead of the true mu * max(d - B, 0), and
 *
 *   F_k(B, last) <= A_p[k][last] + p * B
 *
 * with A_p from a backward recursion over representations alone: a Lagrangian relaxation of "no stalls". Every price
 * gives a bound; a few around the one that is tightest at the root are tabulated per plan, and a node takes the least.
 *
 * With a buffer cap no more than the room below it can be paid for by the price: what a download takes beyond the room
 * surely stalls and costs mu.
 *
 * On a path of varying rate the download times of the bounds are those of a line above the path's cumulative curve,
 * bits(t) <= a + c * t: time runs on it as bits / c, with a head start of a / c.
 */

import type { Problem } from './problem.ts';

/** Prices that are tried on the way to the tightest: it takes three to six. */
const MAX_SEARCHED = 6;
/** Prices beside the tightest, as multiples of it: deeper nodes have their own tightest price. */
const BESIDE = [0.7, 1.4];

/** Stride of `tables`: most prices that a bound is taken from. */
export const MAX_TABLES = MAX_SEARCHED + BESIDE.length;

/** A line above a path's cumulative curve: bits(t) <= bits + t / secondsPerBit. */
export interface CoveringLine {
  secondsPerBit: number;
  bits: number;
}

export interface BoundsBasis {
  /** `[segment * count + representation]`: what each download takes, or would on the line. */
  seconds: Float64Array;
  /** Buffer at the root, with a line's head start. */
  bufferSeconds: number;
  /** Buffer that a bound may count on; Infinity on a path of varying rate. */
  roomSeconds: number;
  /** For a path of varying rate, where it could be laid. */
  line?: CoveringLine | undefined;
}

export class Bounds {
  tableCount = 0;
  readonly prices = new Float64Array(MAX_TABLES);
  /** `[(k * count + last) * MAX_TABLES + table]`, k = segments chosen before: A. */
  tables = new Float64Array(0);
  /** Buffer that a bound may count on. */
  roomSeconds = Number.POSITIVE_INFINITY;
  /** The line's 1 / c and a; 0 where there is no line. */
  lineSecondsPerBit = 0;
  lineBits = 0;

  /** `[segment * count + representation]`: the download seconds that the tables are made with. */
  #seconds = new Float64Array(0);
  #tableSeconds = new Float64Array(0);
  #net = new Float64Array(0);
  #netSeconds = new Float64Array(0);
  #rootBound = 0;
  #rootSlope = 0;
  readonly #horizon: number;

  constructor(horizon: number) {
    this.#horizon = horizon;
  }

  /**
   * Bounds for downloads that take these seconds, whenever they start, with `bufferSeconds` at the root; and for a path
   * of varying rate with the seconds, the buffer and the line of `varying-paths.ts`.
   */
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
   * The bound at the root is convex and piecewise linear in the price. Where the tangents on both sides of its least
   * meet is the next price to try (Kelley's cutting planes in one dimension).
   */
  #choosePrices(problem: Problem, bufferSeconds: number): void {
    const { mu } = problem;
    this.#tabulate(problem, 0, bufferSeconds);
    if (this.#rootSlope >= 0 || mu <= 0) return;
    const low = { price: 0, bound: this.#rootBound, slope: this.#rootSlope };
    this.#tabulate(problem, mu, bufferSeconds);
    const high = { price: mu, bound: this.#rootBound, slope: this.#rootSlope };
    while (this.tableCount < MAX_SEARCHED && high.slope > 0) {
      const price =
        (low.bound - low.price * low.slope - (high.bound - high.price * high.slope)) / (high.slope - low.slope);
      if (!(price > low.price && price < high.price)) break;
      this.#tabulate(problem, price, bufferSeconds);
      const side = this.#rootSlope < 0 ? low : high;
      side.price = price;
      side.bound = this.#rootBound;
      side.slope = this.#rootSlope;
    }
    const tightest = this.prices[this.tableCount - 1]!;
    for (const factor of BESIDE) {
      if (tightest * factor < mu) this.#tabulate(problem, tightest * factor, bufferSeconds);
    }
  }

  /** Adds the table of one price, and leaves the bound at the root with its slope in the price. */
  #tabulate(problem: Problem, price: number, bufferSeconds: number): void {
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
    this.#rootBound = tables[table]! + price * bufferSeconds;
    this.#rootSlope = bufferSeconds - tableSeconds[0]!;
  }
}
