/**
 * The value function of the later segments: expected score from a segment on, if every later decision may depend on the
 * capacity seen until then.
 *
 * A state is the buffer level at a request, the rank of the capacity seen last, and the previous representation. The
 * backward recursion per segment is
 *
 *   Q(b, i, r) = sum_j P(j | i) G(b, j, r),    V(b, i, p) = max_r Q(b, i, r) - lambda |q(r) - q(p)|
 *   G(b, j, r) = q(r) L/4 - mu stall + V_next(b', j, r)
 *
 * The download runs at the capacity of rank j at the time of its request, interpolated between the middles of the
 * forecast's steps. Elapsed time is not a state variable: apart from stalls it equals the initial buffer plus appended
 * media minus the current buffer. After the last stage V is the value of the remaining buffer. A download that would
 * stall may be abandoned for a lower representation `reactionSeconds` after its request; G takes the better of the two.
 *
 * All seconds are the clock's. Buffer levels and segment durations are how long they play, so that the recursion needs
 * no playback rate.
 */

export interface ValueProblem {
  /** Ranks of capacity. */
  bins: number;
  /** Ends of the steps in seconds from now; the last one goes on. Capacity `[step * bins + rank]` in bit/s. */
  stepEndsSeconds: readonly number[];
  capacityBps: Float64Array;
  /** Buffer level now, before the segment to decide on; the first stage is the segment after it. */
  bufferLevelSeconds: number;
  /** Later segments, soonest first: transitions `[from * bins + to]`, and the size of each representation in bits. */
  stages: readonly { transitions: Float64Array; sizesBits: readonly number[] }[];
  /** Value of a buffered second after the last stage, per rank. */
  bufferValuePerSecond: readonly number[];
  /** Quality of each representation, `weights.quality(bitrate)`; ascending. */
  qualities: readonly number[];
  /** QoE of a segment per unit of quality: its seconds of media / 4. */
  qualityScale: number;
  mu: number;
  lambda: number;
  segmentSeconds: number;
  bufferCapSeconds: number;
  latencySeconds: number;
  /** Buffer level at which the media element stalls. */
  stallLevelSeconds: number;
  /** From a request to the abandonment of a download that would stall; `Infinity` = never. */
  reactionSeconds: number;
  /** No download is abandoned while more than this is buffered. */
  patienceSeconds: number;
  /** `at` is asked for no lower buffer level than this; at most `segmentSeconds`. */
  leastLevelSeconds: number;
}

/**
 * Points of the grid of buffer levels, which is finer near empty, where the value bends: on recordings no choice gains
 * from a finer grid.
 */
const POINTS = 25;
const GRID_POWER = 1.5;
const LEVEL_SHARES = Float64Array.from({ length: POINTS }, (_, n) => (n / (POINTS - 1)) ** GRID_POWER);

/**
 * A rank holds for this many seconds of a download; the rest runs at the median rank, if that is faster. If a rank held
 * for ever, so would a dead one, and a single bin of one stage would outweigh the rest of the plan.
 */
const RANK_HOLD_SECONDS = 5;

/** The capacity of a download is that of this many segment durations after its request, about its middle. */
const LOOK_AHEAD = 0.25;

/** Solved when made, for the value at the request of the first stage; without stages, for the value of the buffer. */
export class ValueFunction {
  readonly #problem: ValueProblem;
  /** Number of representations. */
  readonly #count: number;
  readonly #topLevel: number;
  /** Per point of the grid: buffer level, and 1 / distance to the next point. */
  readonly #levels: Float64Array;
  readonly #perWidth: Float64Array;
  /** The lowest point that is looked up: every download ends with a new segment in the buffer. */
  readonly #first: number;
  /** `[rank][representation][point]`: V of the stage after the current one; G of the current stage. */
  readonly #later: Float64Array;
  readonly #outcome: Float64Array;
  /** Per representation: seconds of a download at the current point and rank. */
  readonly #seconds: Float64Array;

  constructor(problem: ValueProblem) {
    this.#problem = problem;
    this.#count = problem.qualities.length;
    this.#topLevel = Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds);
    this.#levels = LEVEL_SHARES.map((share) => this.#topLevel * share);
    this.#perWidth = this.#levels.map((level, n) => 1 / (this.#levels[n + 1]! - level));
    this.#first = 0;
    this.#first = this.#cellAt(problem.leastLevelSeconds);
    const rows = problem.bins * this.#count;
    this.#later = new Float64Array(rows * POINTS);
    this.#outcome = new Float64Array(rows * POINTS);
    this.#seconds = new Float64Array(this.#count);
    for (let row = 0; row < rows; row++) {
      const perSecond = problem.bufferValuePerSecond[Math.floor(row / this.#count)]!;
      for (let n = 0; n < POINTS; n++) this.#later[row * POINTS + n] = perSecond * this.#levels[n]!;
    }
    for (let k = problem.stages.length - 1; k >= 0; k--) {
      this.#playStage(k);
      this.#chooseInStage(k);
    }
  }

  /** Interpolated value at a buffer level (above the cap: after the wait), a rank and the previous representation. */
  at(bufferSeconds: number, bin: number, representation: number): number {
    return this.#interpolated((bin * this.#count + representation) * POINTS, Math.max(0, bufferSeconds));
  }

  /** Writes G(b, j, r) of stage `k` into `#outcome`. */
  #playStage(k: number): void {
    const { bins, stepEndsSeconds: ends, capacityBps, bufferLevelSeconds, segmentSeconds } = this.#problem;
    const levels = this.#levels;
    const last = ends.length - 1;
    const middleOf = (step: number) => (step === 0 ? ends[0]! / 2 : (ends[step - 1]! + ends[step]!) / 2);
    // Elapsed time = initial buffer + appended media - current buffer (0 here).
    const whenEmpty = bufferLevelSeconds + (k + 1 + LOOK_AHEAD) * segmentSeconds;
    let step = last;
    for (let n = this.#first; n < POINTS; n++) {
      const seconds = whenEmpty - levels[n]!;
      while (step > 0 && seconds < middleOf(step)) step--;
      const middle = middleOf(step);
      const share = step === last ? 0 : Math.max(0, (seconds - middle) / Math.max(1e-9, middleOf(step + 1) - middle));
      const rateAt = (rank: number) => {
        const before = capacityBps[step * bins + rank]!;
        return share === 0 ? before : before + share * (capacityBps[(step + 1) * bins + rank]! - before);
      };
      const medianBps = rateAt(bins >> 1);
      for (let rank = 0; rank < bins; rank++) this.#playDownloads(k, n, rank, rateAt(rank), medianBps);
    }
  }

  /** Writes G(b, j, r) at point `n` for a capacity; a download that outlasts its rank goes on at the median's. */
  #playDownloads(k: number, n: number, rank: number, rateBps: number, medianBps: number): void {
    const { qualities, qualityScale, lambda, latencySeconds, stallLevelSeconds, stages } = this.#problem;
    const { sizesBits } = stages[k]!;
    const seconds = this.#seconds;
    const lastingBps = Math.max(rateBps, medianBps);
    const playable = Math.max(0, this.#levels[n]! - stallLevelSeconds);
    const abandonedAt = Math.max(this.#problem.reactionSeconds, playable - this.#problem.patienceSeconds);
    const table = rank * this.#count * POINTS;
    for (let r = 0; r < this.#count; r++) {
      const bits = sizesBits[r]!;
      const atRank = bits / rateBps;
      const takes =
        latencySeconds +
        (atRank <= RANK_HOLD_SECONDS ? atRank : RANK_HOLD_SECONDS + (bits - RANK_HOLD_SECONDS * rateBps) / lastingBps);
      seconds[r] = takes;
      let best = qualityScale * qualities[r]! + this.#valueAfter(table + r * POINTS, n, playable, takes);
      if (takes > abandonedAt && takes > playable) {
        for (let lower = 0; lower < r; lower++) {
          const replaced = abandonedAt + seconds[lower]!;
          // A replacement has to arrive sooner.
          if (replaced >= takes) continue;
          // V charges the switch to r; the switch from r to `lower` is charged here (exact for p >= r).
          const gain = qualityScale * qualities[lower]! - lambda * (qualities[r]! - qualities[lower]!);
          best = Math.max(best, gain + this.#valueAfter(table + lower * POINTS, n, playable, replaced));
        }
      }
      this.#outcome[table + r * POINTS + n] = best;
    }
  }

  /** The value after a download that takes `seconds` from point `n`, less its stall, in a row of `#later`. */
  #valueAfter(row: number, n: number, playable: number, seconds: number): number {
    const { segmentSeconds, mu } = this.#problem;
    const stall = seconds - playable;
    const level = this.#levels[n]! - (stall > 0 ? playable : seconds) + segmentSeconds;
    return stall > 0 ? this.#interpolated(row, level) - mu * stall : this.#interpolated(row, level);
  }

  /** The value at a buffer level of a row of `#later`. */
  #interpolated(row: number, level: number): number {
    const later = this.#later;
    if (level >= this.#topLevel) return later[row + POINTS - 1]!;
    const cell = this.#cellAt(level);
    const low = later[row + cell]!;
    return low + (level - this.#levels[cell]!) * this.#perWidth[cell]! * (later[row + cell + 1]! - low);
  }

  /** The cell of the grid that holds a buffer level, from the first point on. */
  #cellAt(level: number): number {
    let cell = this.#first;
    while (cell < POINTS - 2 && this.#levels[cell + 1]! <= level) cell++;
    return cell;
  }

  /** Writes V(b, i, p) of stage `k` into `#later`. */
  #chooseInStage(k: number): void {
    const { bins, lambda, qualities, stages } = this.#problem;
    const { transitions } = stages[k]!;
    const count = this.#count;
    const outcome = this.#outcome;
    const size = count * POINTS;
    const values = new Float64Array(count);
    /** Raises the value after `r` to that of another choice less the cost of the switch, if that is more. */
    const raise = (r: number, other: number) => {
      const value = values[other]! - lambda * Math.abs(qualities[r]! - qualities[other]!);
      if (value > values[r]!) values[r] = value;
    };
    for (let from = 0; from < bins; from++) {
      for (let n = this.#first; n < POINTS; n++) {
        for (let r = 0; r < count; r++) {
          let sum = 0;
          for (let to = 0; to < bins; to++)
            sum += transitions[from * bins + to]! * outcome[to * size + r * POINTS + n]!;
          values[r] = sum;
        }
        // A switch costs the same in steps, so neighbours suffice: up, then down.
        for (let r = 1; r < count; r++) raise(r, r - 1);
        for (let r = count - 2; r >= 0; r--) raise(r, r + 1);
        for (let r = 0; r < count; r++) this.#later[from * size + r * POINTS + n] = values[r]!;
      }
    }
  }
}
