/**
 * Capacity paths: the capacity of a link from now on. A constant rate, a replayed trace and an oracle's future are
 * paths, so MPC-D and MPC-O share the planner, and the simulator computes downloads with the same arithmetic.
 */

/** Deliverable bits over time; second 0 is now. */
export interface CapacityPath {
  /** Bits that the link can deliver from second 0 to `seconds` (>= 0); non-decreasing. */
  cumulativeBits(seconds: number): number;
  /** Seconds from a request at `startSeconds` to its last bit, including latency; `Infinity` if the bits never come. */
  downloadSeconds(startSeconds: number, sizeBits: number): number;
}

/** A link of one rate for ever, without latency. */
export class ConstantPath implements CapacityPath {
  constructor(readonly rateBps: number) {}

  cumulativeBits(seconds: number): number {
    return this.rateBps * Math.max(0, seconds);
  }

  downloadSeconds(_startSeconds: number, sizeBits: number): number {
    return sizeBits / this.rateBps;
  }
}

export interface PiecewisePathOptions {
  /** Ends of the steps in seconds, ascending, > 0. */
  stepEndsSeconds: ArrayLike<number>;
  /** Rate within each step in bit/s, >= 0. */
  ratesBps: ArrayLike<number>;
  /** Added to each request. Default 0. */
  latencySeconds?: number | undefined;
}

/** A link with a constant rate in each step, which repeats its steps for ever. */
export class PiecewisePath implements CapacityPath {
  private readonly _originBits: number;

  /** Only `from` passes steps and an origin. */
  constructor(
    private readonly _options: PiecewisePathOptions,
    private readonly _steps = new Steps(_options),
    private readonly _originSeconds = 0,
  ) {
    this._originBits = _steps.bitsAt(_originSeconds);
  }

  /** The same link from `originSeconds` on this path's time axis; shares the steps. */
  from(originSeconds: number, latencySeconds = this._options.latencySeconds): PiecewisePath {
    return new PiecewisePath({ ...this._options, latencySeconds }, this._steps, this._originSeconds + originSeconds);
  }

  cumulativeBits(seconds: number): number {
    return this._steps.bitsAt(this._originSeconds + Math.max(0, seconds)) - this._originBits;
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    const sentAt = this._originSeconds + startSeconds;
    return this._steps.arrivalSeconds(sentAt + (this._options.latencySeconds || 0), sizeBits) - sentAt;
  }
}

/** The steps of a path, repeated for ever. Look-ups begin at a guess, so that a path of days is as fast as a short path. */
class Steps {
  private readonly _ends: Float64Array;
  private readonly _rates: Float64Array;
  /** Bits before each step and after the last step. */
  private readonly _cumulative: Float64Array;
  private readonly _durationSeconds: number;
  private readonly _totalBits: number;

  constructor({ stepEndsSeconds, ratesBps }: PiecewisePathOptions) {
    const count = stepEndsSeconds.length;
    this._ends = Float64Array.from(stepEndsSeconds);
    this._rates = Float64Array.from(ratesBps);
    this._cumulative = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      this._cumulative[i + 1] = this._cumulative[i]! + this._rates[i]! * (this._ends[i]! - this._startOf(i));
    }
    this._durationSeconds = this._ends[count - 1] || 0;
    this._totalBits = this._cumulative[count]!;
  }

  bitsAt(seconds: number): number {
    return this._bitsInStep(seconds, this._stepAt(seconds));
  }

  /** Time at which `sizeBits` sent from `startSeconds` on have arrived; `Infinity` if they never arrive. */
  arrivalSeconds(startSeconds: number, sizeBits: number): number {
    const step = this._stepAt(startSeconds);
    const bits = this._bitsInStep(startSeconds, step) + sizeBits;
    if (bits <= this._totalBits) return Math.max(this._secondsWithin(bits, step), startSeconds);
    if (this._totalBits <= 0) return Number.POSITIVE_INFINITY;
    const rounds = Math.ceil(bits / this._totalBits) - 1;
    const within = this._secondsWithin(bits - rounds * this._totalBits, step);
    return Math.max(rounds * this._durationSeconds + within, startSeconds);
  }

  private _startOf(step: number): number {
    return step === 0 ? 0 : this._ends[step - 1]!;
  }

  /** Whole rounds before `seconds`, and the seconds since then. */
  private _roundOf(seconds: number): [rounds: number, within: number] {
    const rounds = seconds >= this._durationSeconds ? Math.floor(seconds / this._durationSeconds) : 0;
    return [rounds, rounds > 0 ? seconds - rounds * this._durationSeconds : seconds];
  }

  /** The first step that ends after `seconds` within a round; the number of steps after the last step. */
  private _stepAt(seconds: number): number {
    const { _ends: ends } = this;
    const [, within] = this._roundOf(seconds);
    const guess = Math.floor((within * ends.length) / this._durationSeconds);
    return firstIndex(ends.length, guess, (i) => ends[i]! > within);
  }

  /** Bits until `seconds`, which is in `step`. */
  private _bitsInStep(seconds: number, step: number): number {
    const [rounds, within] = this._roundOf(seconds);
    const bits =
      step < this._ends.length
        ? this._cumulative[step]! + this._rates[step]! * (within - this._startOf(step))
        : this._totalBits;
    return rounds > 0 ? rounds * this._totalBits + bits : bits;
  }

  /** Time in a round at which `bits` have arrived; `guess` is a step near this time. */
  private _secondsWithin(bits: number, guess: number): number {
    const { _cumulative: cumulative, _ends: ends } = this;
    const step = firstIndex(ends.length - 1, guess, (i) => cumulative[i + 1]! >= bits);
    const start = this._startOf(step);
    const rate = this._rates[step]!;
    if (rate <= 0) return start;
    return Math.min(ends[step]!, start + (bits - cumulative[step]!) / rate);
  }
}

/** The first index below `end` for which `holds`, or `end`. If it holds for an index, it holds for all later indices. */
function firstIndex(end: number, guess: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = end;
  // Search from the guess by doubling strides, then by bisection.
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

/** A path from its second `originSeconds` (>= 0) on. */
export class ShiftedPath implements CapacityPath {
  private readonly _originBits: number;

  constructor(
    private readonly _path: CapacityPath,
    private readonly _originSeconds: number,
  ) {
    this._originBits = _path.cumulativeBits(_originSeconds);
  }

  cumulativeBits(seconds: number): number {
    return this._path.cumulativeBits(this._originSeconds + Math.max(0, seconds)) - this._originBits;
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    return this._path.downloadSeconds(this._originSeconds + startSeconds, sizeBits);
  }
}
