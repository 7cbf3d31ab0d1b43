/**
 * Capacity paths: what a link can deliver from now on.
 *
 * A real trace, an oracle's future and one sampled future of a forecast are all capacity paths, so that one planner
 * serves every controller (the seam that keeps MPC-D, MPC-L and MPC-O the same code).
 */

/** Deliverable bits over time, counted from the moment the path was made ("now", second 0). */
export interface CapacityPath {
  /** Bits that a busy link delivers from second 0 to `seconds` (>= 0); non-decreasing. */
  cumulativeBits(seconds: number): number;
  /**
   * Seconds from sending a request at second `startSeconds` until its last bit is here, request latency included.
   * `Infinity` when the path never delivers that much.
   */
  downloadSeconds(startSeconds: number, sizeBits: number): number;
  /**
   * The same for several sizes at once, all sent at `startSeconds`; absent where it would bring nothing. The numbers
   * are those of `downloadSeconds` to the last bit.
   */
  downloadSecondsEach?(startSeconds: number, batch: DownloadBatch): void;
}

/** Sizes to ask a path about, and where the answers go: `seconds[i]` is for `sizesBits[from + i]`, i < `count`. */
export interface DownloadBatch {
  sizesBits: Float64Array;
  from: number;
  count: number;
  seconds: Float64Array;
}

/** A link of one rate for ever: MPC-D's view of the world. `latencySeconds` is added to each request (default 0). */
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

/** How a `PiecewisePath` goes on after its last step: repeat from the start, or at a constant rate in bit/s. */
export type PathTail = 'repeat' | number;

export interface PiecewisePathOptions {
  /** Ends of the steps in seconds, ascending, all > 0; step i lasts from end i-1 (or 0) to end i. */
  stepEndsSeconds: ArrayLike<number>;
  /** Rate within each step in bit/s, >= 0. */
  ratesBps: ArrayLike<number>;
  /** What follows the last step. Default: the last step's rate. */
  tail?: PathTail;
  /** Added to each request. Default 0. */
  latencySeconds?: number;
  /** Where on the steps "now" is, in seconds; needs no copy of the steps. Default 0. */
  originSeconds?: number;
  /** What the receiver takes for a response after its last bit, the link being idle. Default: nothing. */
  response?: ResponseTime;
}

/** A constant and a share for the size. */
export interface ResponseTime {
  seconds: number;
  secondsPerBit: number;
}

const NO_RESPONSE_TIME: ResponseTime = { seconds: 0, secondsPerBit: 0 };

/**
 * A link whose rate is constant within steps. Look-ups try the step that steps of equal length would have, or those
 * after the last one found, and then search by halves: steps may be of any length, and days of them cost no more.
 */
export class PiecewisePath implements CapacityPath {
  private readonly ends: Float64Array;
  private readonly cumulative: Float64Array;
  private readonly rates: Float64Array;
  private readonly durationSeconds: number;
  private readonly totalBits: number;
  private readonly tail: PathTail;
  private readonly latencySeconds: number;
  private readonly originSeconds: number;
  private readonly originBits: number;
  private readonly response: ResponseTime;
  /** Mean number of steps in a second, for a first guess. */
  private readonly stepsPerSecond: number;
  /** The step that the last look-up by time ended in. */
  private lastStep = 0;

  constructor(options: PiecewisePathOptions | { of: PiecewisePath; originSeconds: number; latencySeconds?: number }) {
    if ('of' in options) {
      const { of } = options;
      this.ends = of.ends;
      this.cumulative = of.cumulative;
      this.rates = of.rates;
      this.tail = of.tail;
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
      this.tail = options.tail ?? this.rates[n - 1] ?? 0;
      this.latencySeconds = options.latencySeconds ?? 0;
      this.originSeconds = options.originSeconds ?? 0;
      this.response = options.response ?? NO_RESPONSE_TIME;
    }
    this.durationSeconds = this.ends[this.ends.length - 1] ?? 0;
    this.totalBits = this.cumulative[this.ends.length]!;
    this.stepsPerSecond = this.ends.length / this.durationSeconds;
    this.originBits = this.absoluteBits(this.originSeconds);
  }

  /** The same link seen from `originSeconds` on this path's time axis; shares the steps. */
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

  /** `downloadSeconds` to the last bit, without what the receiver takes after it. */
  transferSeconds(startSeconds: number, sizeBits: number): number {
    const sentAt = this.originSeconds + startSeconds;
    const firstByteAt = sentAt + this.latencySeconds;
    const bits = this.absoluteBits(firstByteAt);
    return this.absoluteSecondsAt(bits + sizeBits, firstByteAt, this.lastStep) - sentAt;
  }

  downloadSecondsEach(startSeconds: number, { sizesBits, from, count, seconds }: DownloadBatch): void {
    const sentAt = this.originSeconds + startSeconds;
    const firstByteAt = sentAt + this.latencySeconds;
    const bits = this.absoluteBits(firstByteAt);
    const step = this.lastStep;
    const { response } = this;
    for (let i = 0; i < count; i++) {
      const sizeBits = sizesBits[from + i]!;
      const transferSeconds = this.absoluteSecondsAt(bits + sizeBits, firstByteAt, step) - sentAt;
      seconds[i] = transferSeconds + (response.seconds + response.secondsPerBit * sizeBits);
    }
  }

  private absoluteBits(seconds: number): number {
    if (seconds < this.durationSeconds) return this.bitsWithin(seconds);
    if (this.tail === 'repeat') {
      const rounds = Math.floor(seconds / this.durationSeconds);
      return rounds * this.totalBits + this.bitsWithin(seconds - rounds * this.durationSeconds);
    }
    this.lastStep = this.ends.length - 1;
    return this.totalBits + this.tail * (seconds - this.durationSeconds);
  }

  /** The moment when `bits` are reached, never before `notBefore`; `hint` is a step that may be near. */
  private absoluteSecondsAt(bits: number, notBefore: number, hint: number): number {
    let at: number;
    if (bits <= this.totalBits) at = this.secondsWithin(bits, hint);
    else if (this.tail === 'repeat') {
      if (this.totalBits <= 0) return Number.POSITIVE_INFINITY;
      const rounds = Math.ceil(bits / this.totalBits) - 1;
      at = rounds * this.durationSeconds + this.secondsWithin(bits - rounds * this.totalBits, hint);
    } else {
      if (this.tail <= 0) return Number.POSITIVE_INFINITY;
      at = this.durationSeconds + (bits - this.totalBits) / this.tail;
    }
    return Math.max(at, notBefore);
  }

  /** Leaves the step in `lastStep`. */
  private bitsWithin(seconds: number): number {
    const { ends } = this;
    // First step whose end is > seconds.
    let low = 0;
    let high = ends.length;
    const guess = Math.min(high - 1, Math.max(0, Math.floor(seconds * this.stepsPerSecond)));
    for (let i = Math.max(0, guess - 1); i <= guess + 1 && i < high; i++) {
      if (ends[i]! > seconds) high = i;
      else low = i + 1;
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > seconds) high = middle;
      else low = middle + 1;
    }
    this.lastStep = low;
    if (low >= ends.length) return this.totalBits;
    const start = low === 0 ? 0 : ends[low - 1]!;
    return this.cumulative[low]! + this.rates[low]! * (seconds - start);
  }

  private secondsWithin(bits: number, hint: number): number {
    const { cumulative } = this;
    // First step at whose end `bits` are reached.
    let low = 0;
    let high = this.ends.length - 1;
    if (hint < high && cumulative[hint]! < bits) {
      // At the hint or after it: strides that double.
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

/** A path seen from `originSeconds` (>= 0) on its own time axis. */
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

  downloadSecondsEach(startSeconds: number, batch: DownloadBatch): void {
    const { path } = this;
    const sentAt = this.originSeconds + startSeconds;
    if (path.downloadSecondsEach !== undefined) {
      path.downloadSecondsEach(sentAt, batch);
      return;
    }
    const { sizesBits, from, count, seconds } = batch;
    for (let i = 0; i < count; i++) seconds[i] = path.downloadSeconds(sentAt, sizesBits[from + i]!);
  }
}
