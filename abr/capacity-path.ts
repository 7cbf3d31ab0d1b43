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
  latencySeconds?: number;
  /** Time of the receiver for a response after its last bit, with the link idle. Default: none. */
  response?: ResponseTime;
}

/** A constant, and a share that grows with the size. */
export interface ResponseTime {
  seconds: number;
  secondsPerBit: number;
}

const NO_RESPONSE_TIME: ResponseTime = { seconds: 0, secondsPerBit: 0 };

/**
 * A link with a constant rate in each step, which repeats its steps for ever. Look-ups guess a step and then search by
 * halves, so that steps may have any length and a path of days costs no more than a short one.
 */
export class PiecewisePath implements CapacityPath {
  private readonly ends: Float64Array;
  private readonly cumulative: Float64Array;
  private readonly rates: Float64Array;
  private readonly durationSeconds: number;
  private readonly totalBits: number;
  private readonly latencySeconds: number;
  private readonly originSeconds: number;
  private readonly originBits: number;
  private readonly response: ResponseTime;
  /** Mean number of steps in a second, for the guess. */
  private readonly stepsPerSecond: number;

  constructor(options: PiecewisePathOptions | { of: PiecewisePath; originSeconds: number; latencySeconds?: number }) {
    if ('of' in options) {
      const { of } = options;
      this.ends = of.ends;
      this.cumulative = of.cumulative;
      this.rates = of.rates;
      this.latencySeconds = options.latencySeconds ?? of.latencySeconds;
      this.originSeconds = options.originSeconds;
      this.response = of.response;
    } else {
      const n = options.stepEndsSeconds.length;
      this.ends = Float64Array.from(options.stepEndsSeconds);
      this.rates = Float64Array.from(options.ratesBps);
      this.cumulative = new Float64Array(n + 1);
      let start = 0;
      for (let i = 0; i < n; i++) {
        const end = this.ends[i]!;
        this.cumulative[i + 1] = this.cumulative[i]! + this.rates[i]! * (end - start);
        start = end;
      }
      this.latencySeconds = options.latencySeconds ?? 0;
      this.originSeconds = 0;
      this.response = options.response ?? NO_RESPONSE_TIME;
    }
    this.durationSeconds = this.ends[this.ends.length - 1] ?? 0;
    this.totalBits = this.cumulative[this.ends.length]!;
    this.stepsPerSecond = this.ends.length / this.durationSeconds;
    this.originBits = this.absoluteBits(this.originSeconds);
  }

  /** The same link from `originSeconds` on this path's time axis; shares the steps. */
  from(originSeconds: number, latencySeconds?: number): PiecewisePath {
    return new PiecewisePath({
      of: this,
      originSeconds: this.originSeconds + originSeconds,
      latencySeconds: latencySeconds ?? this.latencySeconds,
    });
  }

  cumulativeBits(seconds: number): number {
    return this.absoluteBits(this.originSeconds + Math.max(0, seconds)) - this.originBits;
  }

  downloadSeconds(startSeconds: number, sizeBits: number): number {
    const { seconds, secondsPerBit } = this.response;
    return this.transferSeconds(startSeconds, sizeBits) + (seconds + secondsPerBit * sizeBits);
  }

  /** `downloadSeconds` without the receiver's time after the last bit. */
  transferSeconds(startSeconds: number, sizeBits: number): number {
    const sentAt = this.originSeconds + startSeconds;
    const firstByteAt = sentAt + this.latencySeconds;
    const step = this.stepAt(firstByteAt);
    const bits = this.bitsInStep(firstByteAt, step);
    return this.absoluteSecondsAt(bits + sizeBits, firstByteAt, step) - sentAt;
  }

  private absoluteBits(seconds: number): number {
    return this.bitsInStep(seconds, this.stepAt(seconds));
  }

  /** Whole rounds before `seconds`. */
  private roundsBefore(seconds: number): number {
    return seconds >= this.durationSeconds ? Math.floor(seconds / this.durationSeconds) : 0;
  }

  private withinRound(seconds: number): number {
    const rounds = this.roundsBefore(seconds);
    return rounds > 0 ? seconds - rounds * this.durationSeconds : seconds;
  }

  /** The step at `seconds` (the first one that ends later, within a round); the number of steps after the last one. */
  private stepAt(seconds: number): number {
    const { ends } = this;
    const within = this.withinRound(seconds);
    let low = 0;
    let high = ends.length;
    if (within >= this.durationSeconds) return high;
    const guess = Math.min(high - 1, Math.max(0, Math.floor(within * this.stepsPerSecond)));
    for (let i = Math.max(0, guess - 1); i <= guess + 1 && i < high; i++) {
      if (ends[i]! > within) high = i;
      else low = i + 1;
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > within) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Bits until `seconds`, which lie in `step`. */
  private bitsInStep(seconds: number, step: number): number {
    const rounds = this.roundsBefore(seconds);
    const within = this.withinRound(seconds);
    let bits = this.totalBits;
    if (step < this.ends.length) {
      const start = step === 0 ? 0 : this.ends[step - 1]!;
      bits = this.cumulative[step]! + this.rates[step]! * (within - start);
    }
    return rounds > 0 ? rounds * this.totalBits + bits : bits;
  }

  /** The moment when `bits` are reached, but at least `notBefore`; `hint` is a step near it. */
  private absoluteSecondsAt(bits: number, notBefore: number, hint: number): number {
    let at: number;
    if (bits <= this.totalBits) at = this.secondsWithin(bits, hint);
    else if (this.totalBits <= 0) return Number.POSITIVE_INFINITY;
    else {
      const rounds = Math.ceil(bits / this.totalBits) - 1;
      at = rounds * this.durationSeconds + this.secondsWithin(bits - rounds * this.totalBits, hint);
    }
    return Math.max(at, notBefore);
  }

  private secondsWithin(bits: number, hint: number): number {
    const { cumulative } = this;
    // First step at whose end `bits` are reached.
    let low = 0;
    let high = this.ends.length - 1;
    if (hint < high && cumulative[hint]! < bits) {
      // After the hint: strides that double.
      low = hint;
      let stride = 1;
      while (low + stride <= high) {
        if (cumulative[low + stride]! >= bits) {
          high = low + stride - 1;
          break;
        }
        low += stride;
        stride *= 2;
      }
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle + 1]! >= bits) high = middle;
      else low = middle + 1;
    }
    const start = low === 0 ? 0 : this.ends[low - 1]!;
    const rate = this.rates[low]!;
    if (rate <= 0) return start;
    return Math.min(this.ends[low]!, start + (bits - cumulative[low]!) / rate);
  }
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
