/**
 * The exact finite-horizon planner over one capacity path. `ConstantPlanner` knows constant paths alone: MPC-D needs no
 * more, and a page with MPC-D alone loads less. `Planner` (../planner.ts) knows any path.
 *
 * It maximises the terms of the session's QoE (../qoe.ts) over the next n segments,
 *
 *   sum q(R_k) * segmentSeconds/4  -  mu * sum rebuf_k  -  lambda * sum |q(R_k) - q(R_{k-1})|
 *
 *   d = download time on the path,  rebuf = max(d - B, 0),  B = max(B - d, 0) + segmentSeconds
 *
 * by depth-first branch and bound (bounds.ts) that also drops dominated nodes (labels.ts). Time on the path passes with
 * the downloads. If the plan knows the buffer cap, time also passes while a request waits for room: it leaves when
 * B + segmentSeconds has come down to the cap. Before the first picture the whole first download costs mu per second;
 * while the player is paused the first download costs nothing and the buffer keeps what it has. B and the segment that
 * is added to it are in seconds of the clock (problem.ts).
 *
 * Among equal plans the one with the lowest first representation wins. Pensieve's artifact chooses the same: it goes
 * through the plans in lexicographic order and keeps the first best. Values count as equal within `TIE_TOLERANCE` of the
 * largest |q|, so that neither pruning nor the order of additions decides. A plan with a download that never ends has
 * the value -Infinity; if all plans do, the lowest representation wins.
 */

import { type CapacityPath, ConstantPath } from '../capacity-path.ts';
import type { PlayerState } from '../controller.ts';
import { requireInteger } from '../errors.ts';
import { QOE_UNIT_SECONDS } from '../qoe.ts';
import { Bounds, MAX_TABLES } from './bounds.ts';
import { type LabelledNode, Labels } from './labels.ts';
import { Problem } from './problem.ts';
import type { VaryingPaths } from './varying-paths.ts';

/** Plans whose values differ by less than this share of the largest |q| are equal. */
export const TIE_TOLERANCE = 1e-9;

/** Longest horizon that a planner accepts, in segments. */
export const MAX_HORIZON = 20;

/** Horizon of RobustMPC, in segments (Yin et al., SIGCOMM'15). */
export const DEFAULT_HORIZON = 5;

export interface PlannerOptions {
  /** Planned segments, a whole number from 1 to `MAX_HORIZON`. Default `DEFAULT_HORIZON`. */
  horizon?: number;
  /** Whether the plan knows the state's buffer cap. Default false, as in the textbook. */
  bufferCap?: boolean;
}

export interface Plan {
  /** Index of the first segment's representation. */
  representation: number;
  /** The terms of QoE summed over the planned segments, not yet divided by their media; -Infinity if no plan ends. */
  value: number;
  /** Stall seconds of that plan, startup included. */
  stallSeconds: number;
}

/**
 * Reuses its scratch memory: it allocates when the ladder grows, not per call, and no answer depends on earlier ones.
 * `prepare` reads a state; `best` and `evaluate` then answer for any number of paths.
 */
export class ConstantPlanner<Path extends CapacityPath = ConstantPath> {
  readonly #problem: Problem;
  readonly #bounds: Bounds;
  readonly #labels = new Labels();
  #tieMargin = 0;

  #path: CapacityPath = new ConstantPath(1);
  #isConstant = true;
  /** `[segment * count + representation]`: download seconds on a constant path. */
  #seconds = new Float64Array(0);

  // The node at each depth (number of chosen segments), and its children in descending order of their bounds.
  readonly #nodeValue = new Float64Array(MAX_HORIZON);
  readonly #nodeBuffer = new Float64Array(MAX_HORIZON);
  readonly #nodeTime = new Float64Array(MAX_HORIZON);
  readonly #nodeStall = new Float64Array(MAX_HORIZON);
  readonly #nodeLast = new Int32Array(MAX_HORIZON);
  readonly #childCount = new Int32Array(MAX_HORIZON);
  readonly #cursor = new Int32Array(MAX_HORIZON);
  #childRepresentation = new Int32Array(0);
  #childBound = new Float64Array(0);
  #childValue = new Float64Array(0);
  #childBuffer = new Float64Array(0);
  #childTime = new Float64Array(0);
  #childStall = new Float64Array(0);
  readonly #label: LabelledNode = { first: 0, value: 0, bufferSeconds: 0, timeSeconds: 0, stallSeconds: 0 };

  #bestValue = Number.NEGATIVE_INFINITY;
  #bestFirst = -1;
  #bestStall = Number.POSITIVE_INFINITY;

  readonly #varying: VaryingPaths | undefined;

  /** Throws `InputError` for an invalid option. `varying` is what `Planner` adds. */
  constructor(options: PlannerOptions = {}, varying?: VaryingPaths) {
    this.#varying = varying;
    const horizon = requireInteger(options.horizon ?? DEFAULT_HORIZON, 'options.horizon', { min: 1, max: MAX_HORIZON });
    this.#problem = new Problem(horizon, options.bufferCap ?? false);
    this.#bounds = new Bounds(horizon);
  }

  /** The best plan of a state on a path whose second 0 is the state's now. */
  plan(state: PlayerState, path: Path): Plan {
    this.prepare(state);
    return this.best(path);
  }

  /** Reads a state; `Problem.read` says how it treats the end of the stream and unknown sizes. */
  prepare(state: PlayerState): void {
    const problem = this.#problem;
    problem.read(state);
    this.#tieMargin = TIE_TOLERANCE * problem.largestQuality;
    const cells = problem.sizesBits.length;
    if (cells <= this.#seconds.length) return;
    this.#seconds = new Float64Array(cells);
    this.#childRepresentation = new Int32Array(cells);
    this.#childBound = new Float64Array(cells);
    this.#childValue = new Float64Array(cells);
    this.#childBuffer = new Float64Array(cells);
    this.#childTime = new Float64Array(cells);
    this.#childStall = new Float64Array(cells);
  }

  /** The best plan of the prepared state on a path. */
  best(path: Path): Plan {
    this.#setPath(path, false);
    return this.#search(-1);
  }

  /** Value of the best plan of the prepared state that begins with each representation. */
  evaluate(path: Path): Float64Array {
    this.#setPath(path, true);
    return Float64Array.from({ length: this.#problem.count }, (_, first) => this.#search(first).value);
  }

  /** What a plan of the prepared state promises, in words for a decision's reason. */
  describe({ value, stallSeconds }: Plan): string {
    if (value === Number.NEGATIVE_INFINITY) return 'no plan ever ends';
    const { depth, mediaSeconds } = this.#problem;
    const qoe = (value * QOE_UNIT_SECONDS) / (depth * mediaSeconds);
    return `QoE ${qoe.toFixed(2)} per 4 s and ${stallSeconds.toFixed(1)} s of stalls over ${depth} segments`;
  }

  #setPath(path: Path, forEveryFirst: boolean): void {
    const problem = this.#problem;
    const { depth, count, sizesBits } = problem;
    this.#path = path;
    this.#isConstant = path instanceof ConstantPath;
    if (!this.#isConstant) {
      this.#varying!.prepare({ problem, bounds: this.#bounds, path, forEveryFirst, tieMargin: this.#tieMargin });
      return;
    }
    for (let i = 0; i < depth * count; i++) this.#seconds[i] = path.downloadSeconds(0, sizesBits[i]!);
    const { bufferSeconds, roomSeconds } = problem;
    this.#bounds.make(problem, {
      seconds: this.#seconds,
      bufferSeconds: Math.min(bufferSeconds, roomSeconds),
      roomSeconds,
    });
  }

  /** Whether plans with this first representation and a value of at most `bound` can change the answer. */
  #isWorthwhile(first: number, bound: number): boolean {
    if (first === this.#bestFirst) return bound > this.#bestValue;
    return first < this.#bestFirst
      ? bound >= this.#bestValue - this.#tieMargin
      : bound > this.#bestValue + this.#tieMargin;
  }

  #accept(first: number, value: number, stall: number): void {
    // A lower first representation wins a tie; the larger of the two values is kept.
    this.#bestValue = Math.max(this.#bestValue, value);
    this.#bestFirst = first;
    this.#bestStall = stall;
  }

  /** The best plan of all first representations, or of `only` one (-1: all). */
  #search(only: number): Plan {
    const problem = this.#problem;
    const label = this.#label;
    const { depth, count } = problem;
    this.#bestValue = Number.NEGATIVE_INFINITY;
    this.#bestFirst = only;
    this.#bestStall = Number.POSITIVE_INFINITY;
    const { mu, roomSeconds, isPaused } = problem;
    const labels = this.#isConstant ? this.#labels : this.#varying!.labels;
    const capped = roomSeconds < Number.POSITIVE_INFINITY;
    labels.reset(depth * count, { mu, tieMargin: this.#tieMargin, capped, isPaused });
    this.#nodeValue[0] = 0;
    this.#nodeBuffer[0] = problem.bufferSeconds;
    this.#nodeTime[0] = 0;
    this.#nodeStall[0] = 0;
    this.#wait(0);
    this.#expand(0, only);
    let k = depth === 1 ? -1 : 0;
    while (k >= 0) {
      const next = this.#cursor[k]!;
      if (next >= this.#childCount[k]!) {
        k--;
        continue;
      }
      this.#cursor[k] = next + 1;
      const child = k * count + next;
      const r = this.#childRepresentation[child]!;
      const first = k === 0 ? r : this.#nodeLast[1]!;
      if (!this.#isWorthwhile(first, this.#childBound[child]!)) {
        // Below the root the remaining siblings have the same first representation and no better bound.
        if (k > 0) k--;
        continue;
      }
      k++;
      this.#nodeLast[k] = r;
      this.#nodeValue[k] = this.#childValue[child]!;
      this.#nodeBuffer[k] = this.#childBuffer[child]!;
      this.#nodeTime[k] = this.#childTime[child]!;
      this.#nodeStall[k] = this.#childStall[child]!;
      this.#wait(k);
      if (k > 1) {
        label.first = first;
        label.value = this.#nodeValue[k]!;
        label.bufferSeconds = this.#nodeBuffer[k]!;
        label.timeSeconds = this.#nodeTime[k]!;
        label.stallSeconds = this.#nodeStall[k]!;
        if (labels.isDominated(k * count + r, label)) {
          k--;
          continue;
        }
      }
      this.#expand(k, -1);
      if (k === depth - 1) k--;
    }
    return { representation: Math.max(0, this.#bestFirst), value: this.#bestValue, stallSeconds: this.#bestStall };
  }

  /** Advances time at a node until its request may leave. */
  #wait(k: number): void {
    const { roomSeconds } = this.#problem;
    const excess = this.#nodeBuffer[k]! - roomSeconds;
    if (excess > 0 && (k > 0 || this.#problem.plays)) {
      this.#nodeTime[k] = this.#nodeTime[k]! + excess;
      this.#nodeBuffer[k] = roomSeconds;
    }
  }

  /** Creates the children of a node, best bound first; at the last depth they are complete plans. */
  #expand(k: number, only: number): void {
    const { count, mu, segmentSeconds, gain, plays, isPaused, sizesBits } = this.#problem;
    const { tables, prices, tableCount, lineSecondsPerBit, lineBits, roomSeconds } = this.#bounds;
    const childBound = this.#childBound;
    const isLast = k === this.#problem.depth - 1;
    const switching = k === 0 ? this.#problem.firstSwitching : this.#problem.switching;
    const row = k === 0 ? 0 : this.#nodeLast[k]! * count;
    const base = k * count;
    const value = this.#nodeValue[k]!;
    const stall = this.#nodeStall[k]!;
    const time = this.#nodeTime[k]!;
    // Before the first picture, and while paused, the buffer does not drain during the first download.
    const isFree = k === 0 && isPaused;
    const cover = k > 0 || plays ? this.#nodeBuffer[k]! : 0;
    const keep = this.#nodeBuffer[k]! - cover;
    const hasLine = lineSecondsPerBit > 0 && !isLast;
    const bits = hasLine ? this.#path.cumulativeBits(time) - lineBits : 0;

    const seconds = this.#isConstant ? this.#seconds : this.#varying!.downloadSeconds(time, base);
    const secondsFrom = this.#isConstant ? base : 0;
    let children = 0;
    const to = only < 0 ? count : only + 1;
    for (let r = Math.max(0, only); r < to; r++) {
      const first = k === 0 ? r : this.#nodeLast[1]!;
      const d = seconds[secondsFrom + r]!;
      if (d === Number.POSITIVE_INFINITY) continue;
      const stalled = isFree ? 0 : Math.max(d - cover, 0);
      const childValue = value + gain[r]! - switching[row + r]! - mu * stalled;
      if (isLast) {
        if (this.#isWorthwhile(first, childValue)) this.#accept(first, childValue, stall + stalled);
        continue;
      }
      const buffer = keep + Math.max(cover - d, 0) + segmentSeconds;
      // With a line, time is the line's: it has a head start on the true time.
      const counted = hasLine
        ? buffer + time + d - (bits + sizesBits[base + r]!) * lineSecondsPerBit
        : Math.min(buffer, roomSeconds);
      let bound = Number.POSITIVE_INFINITY;
      const tail = (base + count + r) * MAX_TABLES;
      for (let table = tableCount - 1; table >= 0; table--) {
        const candidate = childValue + tables[tail + table]! + prices[table]! * counted;
        if (candidate < bound) {
          bound = candidate;
          if (!this.#isWorthwhile(first, bound)) break;
        }
      }
      if (!this.#isWorthwhile(first, bound)) continue;
      let at = base + children;
      while (at > base && childBound[at - 1]! < bound) {
        this.#moveChild(at - 1, at);
        at--;
      }
      this.#childRepresentation[at] = r;
      childBound[at] = bound;
      this.#childValue[at] = childValue;
      this.#childBuffer[at] = buffer;
      this.#childTime[at] = time + d;
      this.#childStall[at] = stall + stalled;
      children++;
    }
    this.#childCount[k] = children;
    this.#cursor[k] = 0;
  }

  #moveChild(from: number, to: number): void {
    this.#childRepresentation[to] = this.#childRepresentation[from]!;
    this.#childBound[to] = this.#childBound[from]!;
    this.#childValue[to] = this.#childValue[from]!;
    this.#childBuffer[to] = this.#childBuffer[from]!;
    this.#childTime[to] = this.#childTime[from]!;
    this.#childStall[to] = this.#childStall[from]!;
  }
}
