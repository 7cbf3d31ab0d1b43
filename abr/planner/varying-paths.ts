/** What the planner needs in addition for paths of varying rate. */

import type { CapacityPath, DownloadBatch } from '../capacity-path.ts';
import type { Bounds, CoveringLine } from './bounds.ts';
import type { Problem } from './problem.ts';
import { VaryingLabels } from './varying-labels.ts';

/** Samples of a path's cumulative curve under the line. */
const LINE_SAMPLES = 64;

export interface VaryingTask {
  problem: Problem;
  bounds: Bounds;
  path: CapacityPath;
  /** The best plan of each first representation is wanted, not only the best of all. */
  forEveryFirst: boolean;
  tieMargin: number;
}

export class VaryingPaths {
  readonly labels = new VaryingLabels();
  #task: VaryingTask | undefined;
  /** `[segment * count + representation]`: download seconds on the line. */
  #seconds = new Float64Array(0);
  readonly #batch: DownloadBatch = { sizesBits: this.#seconds, from: 0, count: 0, seconds: this.#seconds };
  readonly #cornerSeconds = new Float64Array(LINE_SAMPLES);
  readonly #cornerBits = new Float64Array(LINE_SAMPLES);

  /** Computes bounds that hold for every plan that may be the best. */
  prepare(task: VaryingTask): void {
    this.#task = task;
    const { problem, bounds } = task;
    const { depth, count, sizesBits, bufferSeconds } = problem;
    const cells = depth * count;
    if (this.#seconds.length < cells) this.#seconds = new Float64Array(sizesBits.length);
    if (this.#batch.seconds.length < count) this.#batch.seconds = new Float64Array(count);
    const line = depth > 1 ? this.#layLine(task) : undefined;
    // Without a line no rate can be excluded: quality alone bounds a plan.
    const secondsPerBit = line?.secondsPerBit ?? 0;
    for (let i = 0; i < cells; i++) this.#seconds[i] = sizesBits[i]! * secondsPerBit;
    bounds.make(problem, {
      seconds: this.#seconds,
      bufferSeconds: line === undefined ? 0 : bufferSeconds + line.bits * line.secondsPerBit,
      roomSeconds: Number.POSITIVE_INFINITY,
      line,
    });
  }

  /** Download seconds of all representations of the segment whose sizes begin at `from`. */
  downloadSeconds(startSeconds: number, from: number): Float64Array {
    const { path, problem } = this.#task!;
    const batch = this.#batch;
    const { sizesBits, count } = problem;
    batch.sizesBits = sizesBits;
    batch.from = from;
    batch.count = count;
    if (path.downloadSecondsEach !== undefined) path.downloadSecondsEach(startSeconds, batch);
    else for (let r = 0; r < count; r++) batch.seconds[r] = path.downloadSeconds(startSeconds, sizesBits[from + r]!);
    return batch.seconds;
  }

  /** Longest first download that ends: a paused player waits for it at no cost. */
  #longestFirst({ count }: Problem): number {
    const seconds = this.downloadSeconds(0, 0).subarray(0, count);
    return seconds.reduce((longest, d) => (d < Number.POSITIVE_INFINITY ? Math.max(longest, d) : longest), 0);
  }

  /**
   * Lays a line above the path's cumulative curve, as low as possible at the end of the horizon. It only has to hold
   * until the moment after which the last segment arrives too late for any plan to equal an easy one. Undefined if there
   * is no such line.
   */
  #layLine(task: VaryingTask): CoveringLine | undefined {
    const { problem, path, tieMargin } = task;
    const { depth, count, mu, gain } = problem;
    const knownValue = easyValue(task) - 2 * tieMargin;
    let mostGain = Number.NEGATIVE_INFINITY;
    for (let r = 0; r < count; r++) mostGain = Math.max(mostGain, gain[r]!);
    const playing = problem.bufferSeconds + (depth - 1) * problem.segmentSeconds;
    const deadline = playing + (problem.isPaused ? this.#longestFirst(problem) : 0);
    const until = deadline + (depth * mostGain - knownValue) / mu;
    if (!(until > 0 && until < Number.POSITIVE_INFINITY)) return undefined;

    // Between two samples the curve is below the later one, so corners (earlier time, later bits) cover it. This is
    // their upper convex hull by Andrew's monotone chain.
    const cornerSeconds = this.#cornerSeconds;
    const cornerBits = this.#cornerBits;
    let corners = 0;
    for (let i = 0; i < LINE_SAMPLES; i++) {
      const seconds = (until * i) / LINE_SAMPLES;
      const bits = path.cumulativeBits((until * (i + 1)) / LINE_SAMPLES);
      while (corners > 1) {
        const a = corners - 2;
        const b = corners - 1;
        const rise = (cornerBits[b]! - cornerBits[a]!) * (seconds - cornerSeconds[b]!);
        if (rise > (bits - cornerBits[b]!) * (cornerSeconds[b]! - cornerSeconds[a]!)) break;
        corners--;
      }
      cornerSeconds[corners] = seconds;
      cornerBits[corners] = bits;
      corners++;
    }
    let edge = 0;
    while (edge < corners - 2 && cornerSeconds[edge + 1]! < deadline) edge++;
    const rate = (cornerBits[edge + 1]! - cornerBits[edge]!) / (cornerSeconds[edge + 1]! - cornerSeconds[edge]!);
    if (!(rate > 0)) return undefined;
    return { secondsPerBit: 1 / rate, bits: cornerBits[edge]! - rate * cornerSeconds[edge]! };
  }
}

/**
 * Value of a plan that is easy to find: one representation for all segments. With `forEveryFirst`, a value that the best
 * plan of every first representation reaches, because it can go on with the same or the lowest representation.
 */
function easyValue(task: VaryingTask): number {
  const { problem, forEveryFirst } = task;
  let known = forEveryFirst ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  for (let r = 0; r < problem.count; r++) {
    const same = planValue(task, r, r);
    known = forEveryFirst ? Math.min(known, Math.max(same, planValue(task, r, 0))) : Math.max(known, same);
  }
  return known;
}

/** Value of one representation first and another for the rest. */
function planValue({ problem, path }: VaryingTask, first: number, rest: number): number {
  const { count, depth, gain, mu, segmentSeconds, roomSeconds, sizesBits, plays, isPaused } = problem;
  let time = 0;
  let buffer = problem.bufferSeconds;
  let value = -problem.firstSwitching[first]! - problem.switching[first * count + rest]!;
  for (let k = 0; k < depth; k++) {
    const covers = k > 0 || plays;
    if (covers && buffer > roomSeconds) {
      time += buffer - roomSeconds;
      buffer = roomSeconds;
    }
    const r = k === 0 ? first : rest;
    const d = path.downloadSeconds(time, sizesBits[k * count + r]!);
    if (d === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
    time += d;
    const covered = covers ? Math.min(d, buffer) : 0;
    value += gain[r]! - (k === 0 && isPaused ? 0 : mu * (d - covered));
    buffer += segmentSeconds - covered;
  }
  return value;
}
