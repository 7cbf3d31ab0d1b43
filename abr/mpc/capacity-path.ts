/**
 * Capacity paths: the capacity of a link from now on.
 *
 * A constant rate, a replayed trace and the true future of an oracle are capacity paths. So MPC-D and MPC-O share the
 * planner, and the simulator computes downloads with the same arithmetic.
 */

/** Deliverable bits over time; second 0 is now. */
export interface CapacityPath {
  /** Bits that the link can deliver from second 0 to `seconds` (>= 0); non-decreasing. */
  cumulativeBits(seconds: number): number;
  /**
   * Seconds from a request at second `startSeconds` to its last bit, request latency included. `Infinity` if the path
   * never delivers that much.
   */
  downloadSeconds(startSeconds: number, sizeBits: number): number;
}

/** A link of one rate for ever, as MPC-D assumes. `latencySeconds` is added to each request (default 0). */
export class ConstantPath implements CapacityPath {
  constructor(
    readonly rateBps: number,
    readonly latencySeconds = 0,
  ) {}

  cumulativeBits(seconds: number): number {
    return this.rateBps * Math.max(0, seconds);
  }

  downloadSeconds(_startSeconds: number, sizeBits: number): number {
    return this.latencySeconds + sizeBits / this.rateBps;
  }
}

export interface PiecewisePathOptions {
  /** Ends of the steps in seconds, ascending, all > 0; step i lasts from end i-1 (or 0) to end i. */
  stepEndsSeconds: ArrayLike<number>;
  /** Rate within each step in bit/s, >= 0. */
  ratesBps: ArrayLike<number>;
  /** Added to each request. Default 0. */
  latencySeconds?: number | undefined;
  /** Time of the receiver for a response after its last bit, with the link idle. Default: none. */
  response?: ResponseTime;
}

/** A constant, and a share that grows with the size. */
export interface ResponseTime {
  seconds: number;
  secondsPerBit: number;
}

/** A link with a constant rate in each step, which repeats its steps for ever. */
export class PiecewisePath implements CapacityPath {
  private readonly originBits: number;

  /** `from` gives the steps and the origin; otherwise they follow from the options. */
  constructor(
    private readonly options: PiecewisePathOptions,
    private readonly steps = new Steps(options),
    private readonly originSeconds = 0,
  ) {
    this.originBits = steps.bitsAt(originSeconds);
  }

  /** The same link from `originSeconds` on this path's time axis; shares the steps. */
  from(originSeconds: number, latencySeconds = this.options.latencySeconds): PiecewisePath {
    return new PiecewisePath({ ...this.options, latencySeconds }, this.steps, this.originSeconds + originSeconds);
  }

  cumulativeBits(seconds: number): number {
    return this.steps.bitsAt(this.originSeconds + Math.max(0, seconds)) - this.originBits;
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    const { seconds = 0, secondsPerBit = 0 } = this.options.response ?? {};
    return this.transferSeconds(startSeconds, sizeBits) + (seconds + secondsPerBit * sizeBits);
  }

  /** `downloadSeconds` without the receiver's time after the last bit. */
  transferSeconds(startSeconds: number, sizeBits: number): number {
    const sentAt = this.originSeconds + startSeconds;
    return this.steps.arrivalSeconds(sentAt + (this.options.latencySeconds ?? 0), sizeBits) - sentAt;
  }
}

/** The steps of a path, repeated for ever. Look-ups begin at a guess, so that a path of days costs no more than a short one. */
class Steps {
  private readonly ends: Float64Array;
  private readonly rates: Float64Array;
  /** Bits before each step, and after the last one. */
  private readonly cumulative: Float64Array;
  private readonly durationSeconds: number;
  private readonly totalBits: number;

  constructor({ stepEndsSeconds, ratesBps }: PiecewisePathOptions) {
    const count = stepEndsSeconds.length;
    this.ends = Float64Array.from(stepEndsSeconds);
    this.rates = Float64Array.from(ratesBps);
    this.cumulative = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      this.cumulative[i + 1] = this.cumulative[i]! + this.rates[i]! * (this.ends[i]! - this.startOf(i));
    }
    this.durationSeconds = this.ends[count - 1] ?? 0;
    this.totalBits = this.cumulative[count]!;
  }

  bitsAt(seconds: number): number {
    return this.bitsInStep(seconds, this.stepAt(seconds));
  }

  /** When `sizeBits` have arrived that start at `startSeconds`; `Infinity` if they never do. */
  arrivalSeconds(startSeconds: number, sizeBits: number): number {
    const step = this.stepAt(startSeconds);
    const bits = this.bitsInStep(startSeconds, step) + sizeBits;
    if (bits <= this.totalBits) return Math.max(this.secondsWithin(bits, step), startSeconds);
    if (this.totalBits <= 0) return Number.POSITIVE_INFINITY;
    const rounds = Math.ceil(bits / this.totalBits) - 1;
    const within = this.secondsWithin(bits - rounds * this.totalBits, step);
    return Math.max(rounds * this.durationSeconds + within, startSeconds);
  }

  private startOf(step: number): number {
    return step === 0 ? 0 : this.ends[step - 1]!;
  }

  /** Whole rounds before `seconds`, and the seconds since then. */
  private roundOf(seconds: number): [rounds: number, within: number] {
    const rounds = seconds >= this.durationSeconds ? Math.floor(seconds / this.durationSeconds) : 0;
    return [rounds, rounds > 0 ? seconds - rounds * this.durationSeconds : seconds];
  }

  /** The step at `seconds` (the first one that ends later, within a round); the number of steps after the last one. */
  private stepAt(seconds: number): number {
    const { ends } = this;
    const [, within] = this.roundOf(seconds);
    const guess = Math.floor((within * ends.length) / this.durationSeconds);
    return firstIndex(ends.length, guess, (i) => ends[i]! > within);
  }

  /** Bits until `seconds`, which lie in `step`. */
  private bitsInStep(seconds: number, step: number): number {
    const [rounds, within] = this.roundOf(seconds);
    const bits =
      step < this.ends.length
        ? this.cumulative[step]! + this.rates[step]! * (within - this.startOf(step))
        : this.totalBits;
    return rounds > 0 ? rounds * this.totalBits + bits : bits;
  }

  /** When `bits` of a round have come; `guess` is a step near it. */
  private secondsWithin(bits: number, guess: number): number {
    const { cumulative, ends } = this;
    const step = firstIndex(ends.length - 1, guess, (i) => cumulative[i + 1]! >= bits);
    const start = this.startOf(step);
    const rate = this.rates[step]!;
    if (rate <= 0) return start;
    return Math.min(ends[step]!, start + (bits - cumulative[step]!) / rate);
  }
}

/** The first index below `end` at which `holds`, which then holds for all later ones; `end` without one. */
function firstIndex(end: number, guess: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = end;
  // From the guess by strides that double, then by halves.
  let at = Math.min(end - 1, Math.max(0, guess));
  for (let stride = 1; low < high; stride *= 2) {
    if (holds(at)) high = at;
    else low = at + 1;
    const next = high === at ? at - stride : at + stride;
    if (next < low || next >= high) break;
    at = next;
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A path from `originSeconds` (>= 0) on its own time axis. */
export class ShiftedPath implements CapacityPath {
  private readonly originBits: number;

  constructor(
    private readonly path: CapacityPath,
    private readonly originSeconds: number,
  ) {
    this.originBits = path.cumulativeBits(originSeconds);
  }

  cumulativeBits(seconds: number): number {
    return this.path.cumulativeBits(this.originSeconds + Math.max(0, seconds)) - this.originBits;
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    return this.path.downloadSeconds(this.originSeconds + startSeconds, sizeBits);
  }
}
