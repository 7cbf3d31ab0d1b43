/**
 * The exact finite-horizon planner over one capacity path: MPC-D plans on a constant path, MPC-O on the true one, a
 * stochastic controller on many.
 *
 * It maximises the terms of the session's QoE (qoe.ts) over the next n segments,
 *
 *   sum q(R_k) * segmentSeconds/4  -  mu * sum rebuf_k  -  lambda * sum |q(R_k) - q(R_{k-1})|
 *
 *   d = download time on the path,  rebuf = max(d - B, 0),  B = max(B - d, 0) + segmentSeconds
 *
 * by depth-first branch and bound. Time on the path passes with the downloads and, where the plan knows the buffer cap,
 * with the waiting for it (a request leaves when B + segmentSeconds has come down to the cap). Before the first picture
 * the first download costs mu per second as a whole.
 *
 * How the bound works. The most that the rest of a plan can be worth, F_k(B, last), grows with B by at most mu per
 * second. Charging a price 0 <= p <= mu for each second of download instead of the true max(d - B, 0) gives
 * F_k(B, last) <= A_p[k][last] + p * B with A_p from a backward recursion over representations alone (a Lagrangian
 * relaxation). A few prices around the one that makes the bound at the root tightest are tabulated once per plan; a
 * node's bound is the least of them. Nodes that a node seen before dominates (not later, no more stalls, at least as
 * much quality, switches counted) are dropped too.
 *
 * Equal plans: the lowest first representation wins, which is the choice of Pensieve's artifact (it goes through the
 * plans in lexicographic order and keeps the first best). Values count as equal within `TIE_TOLERANCE` of the largest
 * quality, so that neither pruning nor the order of additions can tip the scale. A download that never ends makes a
 * plan worth -Infinity; where all are, the lowest representation wins.
 */

import { type CapacityPath, ConstantPath } from './capacity-path.ts';
import type { CandidateOutlook, PlayerState } from './controller.ts';
import { requireInteger } from './errors.ts';
import { QOE_UNIT_SECONDS } from './qoe.ts';

/** Plans whose values differ by less than this share of the largest |q| are equal. */
export const TIE_TOLERANCE = 1e-9;

/** Longest horizon in segments that is accepted. */
export const MAX_HORIZON = 20;

export interface PlannerOptions {
  /** Segments that are planned ahead, 1 to `MAX_HORIZON`. Default 5. */
  horizon?: number;
  /** The plan knows the state's buffer cap. Default false, as in the textbook. */
  bufferCap?: boolean;
}

export interface Plan {
  /** Index of the first segment's representation. */
  representation: number;
  /** Value of the best plan in units of QoE (undivided sum); -Infinity where no plan ever ends. */
  value: number;
  /** Stall seconds of that plan, startup included. */
  stallSeconds: number;
}

/** What `Planner.weigh` finds out of each first representation; the arrays are the planner's own and are reused. */
export interface CandidateValues {
  /** Value of the best plan that begins with it. */
  readonly values: Float64Array;
  /** Stall seconds of that plan, startup included. */
  readonly stallSeconds: Float64Array;
}

/** Most price tables that a bound is taken from. */
const MAX_TABLES = 8;

/** Samples of a path's cumulative curve that its bounding line is laid through. */
const LINE_SAMPLES = 64;

/**
 * A planner with scratch memory of its own: it allocates when the ladder grows, not per call, and remembers nothing
 * from one call to the next. `prepare` reads a state; `best` and `weigh` then answer for any number of paths.
 */
export class Planner {
  readonly horizon: number;
  readonly bufferCap: boolean;

  // The problem, as `prepare` read it.
  private depth = 0;
  private count = 0;
  private segmentSeconds = 0;
  private mu = 0;
  private startBuffer = 0;
  private started = true;
  /** Most seconds in the buffer when a request leaves; Infinity without a cap. */
  private room = Number.POSITIVE_INFINITY;
  private tieMargin = 0;
  private capacity = 0;
  /** Per representation: q * segmentSeconds/4. */
  private gain = new Float64Array(0);
  /** `[last][next]`: lambda * |q - q|. */
  private switching = new Float64Array(0);
  private firstSwitching = new Float64Array(0);
  /** `[segment][representation]`. */
  private sizes = new Float64Array(0);

  // The path, and bounds made for it.
  private path: CapacityPath = new ConstantPath(1);
  private isConstant = true;
  /** `[segment][representation]`: the download seconds that bounds are made with; exact on a constant path. */
  private seconds = new Float64Array(0);
  /** Buffer that a bound may count on in all; below it a second of download costs the price, above it mu. */
  private boundRoom = Number.POSITIVE_INFINITY;
  /** A line above the path's cumulative curve: bits <= lineBits + seconds / lineSecondsPerBit. */
  private lineBits = 0;
  private lineSecondsPerBit = 0;
  private tableCount = 0;
  private readonly prices = new Float64Array(MAX_TABLES);
  /** `[segments chosen][last][table]`: the A of F_k(B, last) <= A + price * B. */
  private tables = new Float64Array(0);
  private readonly lineTimes = new Float64Array(LINE_SAMPLES + 1);
  private readonly lineCurve = new Float64Array(LINE_SAMPLES + 1);
  private net = new Float64Array(0);
  private netSeconds = new Float64Array(0);
  private tableSeconds = new Float64Array(0);

  // The search: the node at each depth and its children, best bound first.
  private readonly nodeValue = new Float64Array(MAX_HORIZON + 1);
  private readonly nodeBuffer = new Float64Array(MAX_HORIZON + 1);
  private readonly nodeTime = new Float64Array(MAX_HORIZON + 1);
  private readonly nodeStall = new Float64Array(MAX_HORIZON + 1);
  private readonly nodeLast = new Int32Array(MAX_HORIZON + 1);
  private readonly childCount = new Int32Array(MAX_HORIZON + 1);
  private readonly cursor = new Int32Array(MAX_HORIZON + 1);
  private childRepresentation = new Int32Array(0);
  private childBound = new Float64Array(0);
  private childValue = new Float64Array(0);
  private childBuffer = new Float64Array(0);
  private childTime = new Float64Array(0);
  private childStall = new Float64Array(0);
  private bestValue = Number.NEGATIVE_INFINITY;
  private bestFirst = -1;
  private bestStall = 0;
  private candidateValues = new Float64Array(0);
  private candidateStalls = new Float64Array(0);
  expansions = 0;

  /** Throws `InputError` where the horizon is no whole number from 1 to `MAX_HORIZON`. */
  constructor(options: PlannerOptions = {}) {
    this.horizon = requireInteger(options.horizon ?? 5, 'options.horizon', { min: 1, max: MAX_HORIZON });
    this.bufferCap = options.bufferCap ?? false;
  }

  /** The best plan of a state on a path whose second 0 is the state's now. */
  plan(state: PlayerState, path: CapacityPath): Plan {
    this.prepare(state);
    return this.best(path);
  }

  /**
   * Reads a state. Fewer segments left than the horizon shorten it. Where fewer rows of sizes are known than segments
   * planned, the last row stands for the rest; with no row at all, sizes are bitrate * duration.
   */
  prepare(state: PlayerState): void {
    const { ladderBps, weights, upcomingSizesBits, segmentSeconds } = state;
    const count = ladderBps.length;
    this.reserve(count);
    this.count = count;
    this.depth = Math.max(1, Math.min(this.horizon, Math.floor(state.segmentsRemaining) || 1));
    this.segmentSeconds = segmentSeconds;
    this.mu = weights.mu;
    this.started = state.started;
    this.startBuffer = state.bufferLevelSeconds;
    this.room = this.bufferCap ? Math.max(0, state.bufferCapSeconds - segmentSeconds) : Number.POSITIVE_INFINITY;

    const units = segmentSeconds / QOE_UNIT_SECONDS;
    const { gain, switching, firstSwitching, sizes } = this;
    const previous = state.previousBitrateBps === undefined ? Number.NaN : weights.quality(state.previousBitrateBps);
    let largest = 0;
    for (let r = 0; r < count; r++) {
      const quality = weights.quality(ladderBps[r]!);
      gain[r] = quality;
      // A bitrate without a quality (not in QoE-HD's table) counts as no segment before.
      firstSwitching[r] = Number.isNaN(previous) ? 0 : weights.lambda * Math.abs(quality - previous);
      largest = Math.max(largest, Math.abs(quality));
    }
    for (let last = 0; last < count; last++) {
      for (let next = 0; next < count; next++) {
        switching[last * count + next] = weights.lambda * Math.abs(gain[next]! - gain[last]!);
      }
    }
    for (let r = 0; r < count; r++) gain[r] = gain[r]! * units;
    this.tieMargin = TIE_TOLERANCE * largest;

    const rows = upcomingSizesBits.length;
    for (let k = 0; k < this.depth; k++) {
      const row = rows > 0 ? upcomingSizesBits[Math.min(k, rows - 1)]! : undefined;
      for (let r = 0; r < count; r++) sizes[k * count + r] = row?.[r] ?? ladderBps[r]! * segmentSeconds;
    }
  }

  /** The best plan of the prepared state on a path. */
  best(path: CapacityPath): Plan {
    this.setPath(path);
    this.bestValue = Number.NEGATIVE_INFINITY;
    this.bestFirst = -1;
    this.bestStall = Number.POSITIVE_INFINITY;
    this.makeBounds(false);
    this.expandRoot(-1);
    this.search();
    return { representation: Math.max(0, this.bestFirst), value: this.bestValue, stallSeconds: this.bestStall };
  }

  /** What each first representation of the prepared state is worth on a path when the best plan follows it. */
  weigh(path: CapacityPath): CandidateValues {
    this.setPath(path);
    this.bestValue = Number.NEGATIVE_INFINITY;
    this.makeBounds(true);
    for (let first = 0; first < this.count; first++) {
      this.bestValue = Number.NEGATIVE_INFINITY;
      this.bestFirst = first;
      this.bestStall = Number.POSITIVE_INFINITY;
      this.expandRoot(first);
      this.search();
      this.candidateValues[first] = this.bestValue;
      this.candidateStalls[first] = this.bestStall;
    }
    return {
      values: this.candidateValues.subarray(0, this.count),
      stallSeconds: this.candidateStalls.subarray(0, this.count),
    };
  }

  /** `weigh` as a decision shows it. */
  outlook(path: CapacityPath, ladderBps: readonly number[]): CandidateOutlook[] {
    const { values, stallSeconds } = this.weigh(path);
    return ladderBps.map((bitrateBps, r) => ({
      bitrateBps,
      expectedQoe: values[r]!,
      expectedStallSeconds: stallSeconds[r]!,
    }));
  }

  private reserve(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = count;
    const cells = this.horizon * count;
    this.gain = new Float64Array(count);
    this.switching = new Float64Array(count * count);
    this.firstSwitching = new Float64Array(count);
    this.sizes = new Float64Array(cells);
    this.seconds = new Float64Array(cells);
    this.net = new Float64Array(count);
    this.netSeconds = new Float64Array(count);
    this.tables = new Float64Array((this.horizon + 1) * count * MAX_TABLES);
    this.tableSeconds = new Float64Array((this.horizon + 1) * count);
    this.childRepresentation = new Int32Array(cells);
    this.childBound = new Float64Array(cells);
    this.childValue = new Float64Array(cells);
    this.childBuffer = new Float64Array(cells);
    this.childTime = new Float64Array(cells);
    this.childStall = new Float64Array(cells);
    this.candidateValues = new Float64Array(count);
    this.candidateStalls = new Float64Array(count);
  }

  private setPath(path: CapacityPath): void {
    this.path = path;
    this.isConstant = path instanceof ConstantPath;
    if (!this.isConstant) return;
    const cells = this.depth * this.count;
    for (let i = 0; i < cells; i++) this.seconds[i] = path.downloadSeconds(0, this.sizes[i]!);
  }

  // Bounds

  private makeBounds(everyFirst: boolean): void {
    this.tableCount = 0;
    if (this.depth === 1) return;
    this.boundRoom = Number.POSITIVE_INFINITY;
    this.lineBits = 0;
    this.lineSecondsPerBit = 0;
    let startBuffer = this.startBuffer;
    if (this.isConstant) {
      this.boundRoom = this.room;
      startBuffer = Math.min(startBuffer, this.room);
    } else if (this.layLine(everyFirst)) {
      const cells = this.depth * this.count;
      for (let i = 0; i < cells; i++) this.seconds[i] = this.sizes[i]! * this.lineSecondsPerBit;
      startBuffer += this.lineBits * this.lineSecondsPerBit;
    } else {
      // Nothing is known of the future rates: one table, of quality alone.
      this.seconds.fill(0);
      this.tabulate(0, 0);
      return;
    }
    this.choosePrices(startBuffer);
  }

  /**
   * Prices around the least of the bound at the root, which is convex and piecewise linear in the price: where the
   * tangents of both sides meet is the next one to try (Kelley's cutting planes in one dimension).
   */
  private choosePrices(startBuffer: number): void {
    const { mu } = this;
    this.tabulate(0, startBuffer);
    let lowPrice = 0;
    let lowBound = this.rootBound;
    let lowSlope = this.rootSlope;
    if (lowSlope >= 0 || mu <= 0) return;
    this.tabulate(mu, startBuffer);
    let highPrice = mu;
    let highBound = this.rootBound;
    let highSlope = this.rootSlope;
    while (this.tableCount < MAX_TABLES && highSlope > 0) {
      const price = (lowBound - lowPrice * lowSlope - (highBound - highPrice * highSlope)) / (highSlope - lowSlope);
      if (!(price > lowPrice && price < highPrice)) return;
      this.tabulate(price, startBuffer);
      if (this.rootSlope < 0) {
        lowPrice = price;
        lowBound = this.rootBound;
        lowSlope = this.rootSlope;
      } else {
        highPrice = price;
        highBound = this.rootBound;
        highSlope = this.rootSlope;
      }
    }
  }

  private rootBound = 0;
  private rootSlope = 0;

  /** Adds the table of one price, and leaves the bound at the root with its slope in the price. */
  private tabulate(price: number, startBuffer: number): void {
    const { depth, count, mu, boundRoom, net, netSeconds, seconds, gain, switching, tables, tableSeconds } = this;
    const table = this.tableCount++;
    this.prices[table] = price;
    const refill = Math.min(this.segmentSeconds, boundRoom);
    for (let k = depth - 1; k >= 0; k--) {
      const isLast = k === depth - 1;
      for (let r = 0; r < count; r++) {
        const d = seconds[k * count + r]!;
        if (d === Number.POSITIVE_INFINITY) {
          net[r] = Number.NEGATIVE_INFINITY;
          netSeconds[r] = 0;
          continue;
        }
        const within = Math.min(d, boundRoom);
        const after = ((k + 1) * count + r) * MAX_TABLES + table;
        net[r] = gain[r]! - price * within - mu * (d - within) + (isLast ? 0 : price * refill + tables[after]!);
        netSeconds[r] = isLast ? within : within - refill + tableSeconds[(k + 1) * count + r]!;
      }
      if (k === 0) break;
      for (let last = 0; last < count; last++) {
        let best = Number.NEGATIVE_INFINITY;
        let bestNext = 0;
        const row = last * count;
        for (let next = 0; next < count; next++) {
          const value = net[next]! - switching[row + next]!;
          if (value > best) {
            best = value;
            bestNext = next;
          }
        }
        tables[(k * count + last) * MAX_TABLES + table] = best;
        tableSeconds[k * count + last] = netSeconds[bestNext]!;
      }
    }
    let best = Number.NEGATIVE_INFINITY;
    let bestFirst = 0;
    for (let r = 0; r < count; r++) {
      const value = net[r]! - this.firstSwitching[r]!;
      if (value > best) {
        best = value;
        bestFirst = r;
      }
    }
    this.rootBound = best + price * startBuffer;
    this.rootSlope = startBuffer - netSeconds[bestFirst]!;
  }

  /**
   * Lays a line above the path's cumulative curve, as tight as can be at the end of the horizon. It need hold only
   * until the moment after which no plan can be better than one that is known. False where there is none.
   */
  private layLine(everyFirst: boolean): boolean {
    const { depth, count, mu, gain, lineTimes, lineCurve, path } = this;
    let mostGain = Number.NEGATIVE_INFINITY;
    for (let r = 0; r < count; r++) mostGain = Math.max(mostGain, gain[r]!);
    const deadline = this.startBuffer + (depth - 1) * this.segmentSeconds;
    const known = this.knownValue(everyFirst) - 2 * this.tieMargin;
    const until = deadline + (depth * mostGain - known) / mu;
    if (!(until > 0 && until < Number.POSITIVE_INFINITY)) return false;
    // Between two samples the curve stays below the later one: the corners (start of step, bits at its end) cover it.
    let corners = 0;
    for (let i = 0; i < LINE_SAMPLES; i++) {
      const seconds = (until * i) / LINE_SAMPLES;
      const bits = path.cumulativeBits((until * (i + 1)) / LINE_SAMPLES);
      // Upper convex hull of the corners (Andrew's monotone chain).
      while (corners > 1) {
        const bx = lineTimes[corners - 1]!;
        const by = lineCurve[corners - 1]!;
        const ax = lineTimes[corners - 2]!;
        const ay = lineCurve[corners - 2]!;
        if ((by - ay) * (seconds - bx) > (bits - by) * (bx - ax)) break;
        corners--;
      }
      lineTimes[corners] = seconds;
      lineCurve[corners] = bits;
      corners++;
    }
    let edge = 0;
    while (edge < corners - 2 && lineTimes[edge + 1]! < deadline) edge++;
    if (corners < 2) return false;
    const slope = (lineCurve[edge + 1]! - lineCurve[edge]!) / (lineTimes[edge + 1]! - lineTimes[edge]!);
    if (!(slope > 0)) return false;
    this.lineSecondsPerBit = 1 / slope;
    this.lineBits = lineCurve[edge]! - slope * lineTimes[edge]!;
    return true;
  }

  /**
   * Value of some plan on the path that is easily found: one representation for all segments. With `everyFirst`, a
   * value that no first representation need stay below, with the same or the lowest after it.
   */
  private knownValue(everyFirst: boolean): number {
    let known = everyFirst ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    for (let r = 0; r < this.count; r++) {
      const same = this.valueOf(r, r);
      known = everyFirst ? Math.min(known, Math.max(same, this.valueOf(r, 0))) : Math.max(known, same);
    }
    return known;
  }

  /** Value of one representation first and another for the rest. */
  private valueOf(first: number, rest: number): number {
    const { count, depth, path, sizes, gain, mu, segmentSeconds, room } = this;
    let time = 0;
    let buffer = this.startBuffer;
    let value = -this.firstSwitching[first]! - this.switching[first * count + rest]!;
    for (let k = 0; k < depth; k++) {
      const covers = k > 0 || this.started;
      if (buffer > room && covers) {
        time += buffer - room;
        buffer = room;
      }
      const r = k === 0 ? first : rest;
      const d = path.downloadSeconds(time, sizes[k * count + r]!);
      if (d === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
      time += d;
      const covered = covers ? Math.min(d, buffer) : 0;
      value += gain[r]! - mu * (d - covered);
      buffer += segmentSeconds - covered;
    }
    return value;
  }

  // Search

  /** The node of no segment chosen and its children: all first representations, or `only` one (-1: all). */
  private expandRoot(only: number): void {
    this.nodeValue[0] = 0;
    this.nodeBuffer[0] = this.startBuffer;
    this.nodeTime[0] = 0;
    this.nodeStall[0] = 0;
    this.expand(0, only);
  }

  /** Whether a subtree under a first representation may hold a plan that changes the answer. */
  private isWorthwhile(first: number, bound: number): boolean {
    if (first === this.bestFirst) return bound > this.bestValue;
    return first < this.bestFirst ? bound >= this.bestValue - this.tieMargin : bound > this.bestValue + this.tieMargin;
  }

  private accept(first: number, value: number, stall: number): void {
    if (first >= this.bestFirst || value > this.bestValue) {
      this.bestValue = value;
    }
    this.bestFirst = first;
    this.bestStall = stall;
  }

  /** Makes the children of the node at `depth`, best bound first; at the last depth they are plans and are judged. */
  private expand(k: number, only: number): void {
    this.expansions++;
    const { count, mu, segmentSeconds, sizes, gain, tables, prices, tableCount, path } = this;
    const isLast = k === this.depth - 1;
    const switching = k === 0 ? this.firstSwitching : this.switching;
    const row = k === 0 ? 0 : this.nodeLast[k]! * count;
    const parentValue = this.nodeValue[k]!;
    const parentStall = this.nodeStall[k]!;
    const covers = k > 0 || this.started;
    let buffer = this.nodeBuffer[k]!;
    let time = this.nodeTime[k]!;
    if (buffer > this.room && covers) {
      time += buffer - this.room;
      buffer = this.room;
    }
    const base = k * count;
    const hasLine = this.lineSecondsPerBit > 0;
    const bitsBefore = hasLine && !isLast ? path.cumulativeBits(time) - this.lineBits : 0;
    let children = 0;
    const from = Math.max(0, only);
    const to = only < 0 ? count : only + 1;
    for (let r = from; r < to; r++) {
      const first = k === 0 ? r : this.nodeLast[1]!;
      const d = this.isConstant ? this.seconds[base + r]! : path.downloadSeconds(time, sizes[base + r]!);
      if (d === Number.POSITIVE_INFINITY) continue;
      const covered = covers ? Math.min(d, buffer) : 0;
      const value = parentValue + gain[r]! - switching[row + r]! - mu * (d - covered);
      const stall = parentStall + (d - covered);
      if (isLast) {
        if (this.isWorthwhile(first, value)) this.accept(first, value, stall);
        continue;
      }
      const bufferAfter = buffer - covered + segmentSeconds;
      // What bounds may count on: on a path of varying rate the line's time, which runs before the true one.
      const counted = hasLine
        ? bufferAfter + time + d - (bitsBefore + sizes[base + r]!) * this.lineSecondsPerBit
        : Math.min(bufferAfter, this.boundRoom);
      let bound = Number.POSITIVE_INFINITY;
      const tail = (base + count + r) * MAX_TABLES;
      for (let table = tableCount - 1; table >= 0; table--) {
        const candidate = tables[tail + table]! + prices[table]! * counted;
        if (candidate < bound) bound = candidate;
      }
      bound += value;
      if (!this.isWorthwhile(first, bound)) continue;
      // Insertion in descending order of the bound; of equals the lower representation first.
      let at = base + children;
      while (at > base && this.childBound[at - 1]! < bound) {
        this.childRepresentation[at] = this.childRepresentation[at - 1]!;
        this.childBound[at] = this.childBound[at - 1]!;
        this.childValue[at] = this.childValue[at - 1]!;
        this.childBuffer[at] = this.childBuffer[at - 1]!;
        this.childTime[at] = this.childTime[at - 1]!;
        this.childStall[at] = this.childStall[at - 1]!;
        at--;
      }
      this.childRepresentation[at] = r;
      this.childBound[at] = bound;
      this.childValue[at] = value;
      this.childBuffer[at] = bufferAfter;
      this.childTime[at] = time + d;
      this.childStall[at] = stall;
      children++;
    }
    this.childCount[k] = children;
    this.cursor[k] = 0;
  }

  private search(): void {
    let k = 0;
    const { count } = this;
    if (this.depth === 1) return;
    while (k >= 0) {
      const next = this.cursor[k]!;
      if (next >= this.childCount[k]!) {
        k--;
        continue;
      }
      this.cursor[k] = next + 1;
      const child = k * count + next;
      const r = this.childRepresentation[child]!;
      const first = k === 0 ? r : this.nodeLast[1]!;
      if (!this.isWorthwhile(first, this.childBound[child]!)) {
        // The siblings after it have no better bound.
        if (k > 0) k--;
        continue;
      }
      k++;
      this.nodeLast[k] = r;
      this.nodeValue[k] = this.childValue[child]!;
      this.nodeBuffer[k] = this.childBuffer[child]!;
      this.nodeTime[k] = this.childTime[child]!;
      this.nodeStall[k] = this.childStall[child]!;
      this.expand(k, -1);
      if (k === this.depth - 1) k--;
    }
  }
}
