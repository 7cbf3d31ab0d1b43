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

export interface ValueStage {
  /** `[from * bins + to]`. */
  transitions: Float64Array;
  /** Size of each representation of this segment in bits. */
  sizesBits: readonly number[];
}

export interface ValueProblem {
  /** Ranks of capacity. */
  bins: number;
  /** Steps and their ends in seconds from now; the last one goes on. Capacity `[step * bins + rank]` in bit/s. */
  steps: number;
  stepEndsSeconds: ArrayLike<number>;
  capacityBps: Float64Array;
  /** Buffer level now, before the segment to decide on; the first stage is the segment after it. */
  bufferLevelSeconds: number;
  /** Later segments, soonest first. */
  stages: readonly ValueStage[];
  /** Value of a buffered second after the last stage, per rank. */
  bufferValuePerSecond: Float64Array;
  /** Quality of each representation, `weights.quality(bitrate)`; ascending. */
  qualities: Float64Array;
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
  /** `at` is asked for buffer levels from here to there. */
  leastLevelSeconds: number;
  mostLevelSeconds: number;
}

/**
 * Points of the grid of buffer levels, which is finer near empty, where the value bends: on recordings no choice gains
 * from a finer grid.
 */
const POINTS = 25;
const GRID_POWER = 1.5;
/** Buffer levels of the grid as shares of the highest, and the cell at or below each of `CELL_TABLE` equal parts. */
const LEVEL_SHARES = Float64Array.from({ length: POINTS }, (_, n) => (n / (POINTS - 1)) ** GRID_POWER);
const CELL_TABLE = 256;
const CELL_OF = Uint8Array.from({ length: CELL_TABLE }, (_, i) => {
  let cell = 0;
  while (cell < POINTS - 2 && LEVEL_SHARES[cell + 1]! <= i / CELL_TABLE) cell++;
  return cell;
});
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;

/**
 * A rank holds for this many seconds of a download; the rest runs at the median rank, if that is faster. If a rank held
 * for ever, so would a dead one, and a single bin of one stage would outweigh the rest of the plan.
 */
const RANK_HOLD_SECONDS = 5;

/** The capacity of a download is that of this many segment durations after its request, about its middle. */
const LOOK_AHEAD = 0.25;

/**
 * `solve` fills the tables, `at` reads them; the next `solve` overwrites them. A table is `[rank][representation][point
 * of the grid]`, so that inner loops run along the buffer levels of one row.
 */
export class ValueFunction {
  /** V of the current stage, and of the stage after it. */
  #values!: Float64Array;
  #later!: Float64Array;
  /** G of the current stage. */
  #outcome!: Float64Array;
  #bins = 0;
  #count = 0;
  /** The points of the grid that the current stage needs, up to before `#end`: others are not looked up. */
  #first = 0;
  #end = 0;

  #mu = 0;
  #segmentSeconds = 0;
  #topLevel = 0;
  /** Parts of `CELL_OF` per second of buffer; a little less, so that rounding leads to no part above. */
  #partsPerSecond = 0;
  /** Per point: buffer level, seconds of it that play before the element stalls, 1 / distance to the next point. */
  readonly #levels = new Float64Array(POINTS);
  readonly #playable = new Float64Array(POINTS);
  readonly #perWidth = new Float64Array(POINTS);
  /** Where a download that stalls leads: the buffer that does not play, plus the new segment. */
  readonly #stalledCell = new Uint8Array(POINTS);
  readonly #stalledShare = new Float64Array(POINTS);
  /** Seconds after a request at which it is abandoned for another. */
  readonly #onceAbandoned = new Float64Array(POINTS);
  /** Per point, at the time of its request: the step of capacity before, and the share of the step after. */
  readonly #stepBefore = new Uint8Array(POINTS);
  readonly #shareAfter = new Float64Array(POINTS);
  /** Per point, bit/s: capacity of the current rank, and of a download that outlasts the rank. */
  readonly #rateBps = new Float64Array(POINTS);
  readonly #lastingBps = new Float64Array(POINTS);

  /** Transitions from one rank, without negligible ones. */
  #likely!: Float64Array;
  /** Q at one rank, `[representation][point]`. */
  #expected!: Float64Array;
  /** At one rank, `[representation][point]`: seconds of a download, and 1 if it may be abandoned. */
  #seconds!: Float64Array[];
  #abandonable!: Uint8Array;
  /** Per point: seconds until the replacement of an abandoned download has arrived. */
  readonly #replacedSeconds = new Float64Array(POINTS);
  /** Per point: value after a download, less its stall. */
  readonly #after = new Float64Array(POINTS);

  /** Solves for the value at the request of the first stage; without stages, for the value of the buffer. */
  solve(problem: ValueProblem): void {
    const { stages, qualities } = problem;
    this.#resize(problem.bins, qualities.length);
    this.#layGrid(problem);
    const asked = this.#pointBelow(problem.leastLevelSeconds);
    // Every download ends with a new segment in the buffer.
    const reached = this.#pointBelow(problem.segmentSeconds);
    const ends = [this.#pointBelow(problem.mostLevelSeconds) + 2];
    for (let k = 0; k < stages.length; k++) {
      ends.push(this.#pointBelow(this.#levels[ends[k]! - 1]! + problem.segmentSeconds) + 2);
    }
    this.#first = Math.min(asked, reached);
    this.#end = ends[stages.length]!;
    this.#valueBuffer(problem);
    for (let k = stages.length - 1; k >= 0; k--) {
      this.#first = k === 0 ? asked : reached;
      this.#end = ends[k]!;
      this.#stageOutcomes(problem, k);
      this.#stageValues(problem, stages[k]!);
      const solved = this.#values;
      this.#values = this.#later;
      this.#later = solved;
    }
  }

  /** Interpolated value at a buffer level (above the cap: after the wait), a rank and the previous representation. */
  at(bufferSeconds: number, bin: number, representation: number): number {
    return this.#interpolated((bin * this.#count + representation) * POINTS, Math.max(0, bufferSeconds));
  }

  #resize(bins: number, count: number): void {
    if (bins === this.#bins && count === this.#count) return;
    const size = bins * count * POINTS;
    this.#bins = bins;
    this.#count = count;
    this.#values = new Float64Array(size);
    this.#later = new Float64Array(size);
    this.#outcome = new Float64Array(size);
    this.#likely = new Float64Array(bins);
    this.#expected = new Float64Array(count * POINTS);
    this.#seconds = Array.from({ length: count }, () => new Float64Array(POINTS));
    this.#abandonable = new Uint8Array(count * POINTS);
  }

  /** The point at or below a buffer level, but not the highest one, so that there is one above. */
  #pointBelow(level: number): number {
    return level < this.#topLevel ? this.#cellAt(level) : POINTS - 2;
  }

  #layGrid(problem: ValueProblem): void {
    const levels = this.#levels;
    const playable = this.#playable;
    const perWidth = this.#perWidth;
    const stalledCell = this.#stalledCell;
    const stalledShare = this.#stalledShare;
    const onceAbandoned = this.#onceAbandoned;
    this.#mu = problem.mu;
    this.#segmentSeconds = problem.segmentSeconds;
    this.#topLevel = Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds);
    this.#partsPerSecond = ((1 - 1e-12) * CELL_TABLE) / this.#topLevel;
    for (let n = 0; n < POINTS; n++) {
      levels[n] = this.#topLevel * LEVEL_SHARES[n]!;
      playable[n] = Math.max(0, levels[n]! - problem.stallLevelSeconds);
      onceAbandoned[n] = Math.max(problem.reactionSeconds, playable[n]! - problem.patienceSeconds);
      if (n > 0) perWidth[n - 1] = 1 / (levels[n]! - levels[n - 1]!);
    }
    let cell = 0;
    for (let n = 0; n < POINTS; n++) {
      const level = Math.min(this.#topLevel, levels[n]! - playable[n]! + problem.segmentSeconds);
      while (cell < POINTS - 2 && levels[cell + 1]! <= level) cell++;
      stalledCell[n] = cell;
      stalledShare[n] = (level - levels[cell]!) * perWidth[cell]!;
    }
  }

  /** Writes the value after the last stage into `later`. */
  #valueBuffer({ bufferValuePerSecond }: ValueProblem): void {
    const bins = this.#bins;
    const count = this.#count;
    const later = this.#later;
    const levels = this.#levels;
    for (let row = 0; row < bins * count; row++) {
      const perSecond = bufferValuePerSecond[Math.floor(row / count)]!;
      for (let n = this.#first; n < this.#end; n++) later[row * POINTS + n] = perSecond * levels[n]!;
    }
  }

  /** Writes G(b, j, r) of stage `k` for all points into `outcome`. */
  #stageOutcomes(problem: ValueProblem, k: number): void {
    const levels = this.#levels;
    const stepBefore = this.#stepBefore;
    const shareAfter = this.#shareAfter;
    const { stepEndsSeconds: ends, segmentSeconds } = problem;
    const last = problem.steps - 1;
    const middleOf = (step: number) => (step === 0 ? ends[0]! / 2 : (ends[step - 1]! + ends[step]!) / 2);
    // Elapsed time = initial buffer + appended media - current buffer (0 here).
    const whenEmpty = problem.bufferLevelSeconds + (k + 1 + LOOK_AHEAD) * segmentSeconds;
    let step = last;
    for (let n = this.#first; n < this.#end; n++) {
      const seconds = whenEmpty - levels[n]!;
      while (step > 0 && seconds < middleOf(step)) step--;
      stepBefore[n] = step;
      const middle = middleOf(step);
      shareAfter[n] = step === last ? 0 : Math.max(0, (seconds - middle) / Math.max(1e-9, middleOf(step + 1) - middle));
    }
    for (let rank = 0; rank < this.#bins; rank++) this.#rankOutcomes(problem, problem.stages[k]!.sizesBits, rank);
  }

  /** Writes G(b, j, r) of one rank for all points into `outcome`. */
  #rankOutcomes(problem: ValueProblem, sizesBits: readonly number[], rank: number): void {
    const bins = this.#bins;
    const count = this.#count;
    const outcome = this.#outcome;
    const abandonable = this.#abandonable;
    const playable = this.#playable;
    const onceAbandoned = this.#onceAbandoned;
    const rateBps = this.#rateBps;
    const lastingBps = this.#lastingBps;
    const first = this.#first;
    const end = this.#end;
    const { qualities, qualityScale, latencySeconds } = problem;
    for (let n = first; n < end; n++) {
      const rate = this.#rateAt(problem, n, rank);
      rateBps[n] = rate;
      lastingBps[n] = Math.max(rate, this.#rateAt(problem, n, bins >> 1));
    }
    const table = rank * count * POINTS;
    /** No point from here on has a download that may be abandoned. */
    let abandonableEnd = 0;
    for (let r = 0; r < count; r++) {
      const row = r * POINTS;
      const bits = sizesBits[r]!;
      const seconds = this.#seconds[r]!;
      for (let n = first; n < end; n++) {
        const atRank = bits / rateBps[n]!;
        const takes =
          latencySeconds +
          (atRank <= RANK_HOLD_SECONDS
            ? atRank
            : RANK_HOLD_SECONDS + (bits - RANK_HOLD_SECONDS * rateBps[n]!) / lastingBps[n]!);
        seconds[n] = takes;
        if (takes > onceAbandoned[n]! && takes > playable[n]! && r > 0) {
          abandonable[row + n] = 1;
          if (n >= abandonableEnd) abandonableEnd = n + 1;
        } else {
          abandonable[row + n] = 0;
        }
        outcome[table + row + n] = qualityScale * qualities[r]! + this.#valueAfter(table + row, n, takes);
      }
    }
    if (abandonableEnd > 0) this.#abandon(problem, rank, abandonableEnd);
  }

  /** Raises G(b, j, r) of one rank for the points before `end` whose download had better be abandoned. */
  #abandon({ qualities, qualityScale, lambda }: ValueProblem, rank: number, end: number): void {
    const count = this.#count;
    const outcome = this.#outcome;
    const after = this.#after;
    const abandonable = this.#abandonable;
    const replacedSeconds = this.#replacedSeconds;
    const onceAbandoned = this.#onceAbandoned;
    const table = rank * count * POINTS;
    for (let lower = 0; lower < count - 1; lower++) {
      const lowerSeconds = this.#seconds[lower]!;
      for (let n = this.#first; n < end; n++) {
        replacedSeconds[n] = onceAbandoned[n]! + lowerSeconds[n]!;
        after[n] = this.#valueAfter(table + lower * POINTS, n, replacedSeconds[n]!);
      }
      for (let r = lower + 1; r < count; r++) {
        // V charges the switch to r; the switch from r to `lower` is charged here (exact for p >= r).
        const gain = qualityScale * qualities[lower]! - lambda * (qualities[r]! - qualities[lower]!);
        const row = r * POINTS;
        const seconds = this.#seconds[r]!;
        for (let n = this.#first; n < end; n++) {
          // A replacement has to arrive sooner.
          if (abandonable[row + n] === 0 || replacedSeconds[n]! >= seconds[n]!) continue;
          const value = gain + after[n]!;
          if (value > outcome[table + row + n]!) outcome[table + row + n] = value;
        }
      }
    }
  }

  /** Capacity of a rank at the time of a request at point `n`. */
  #rateAt({ capacityBps, bins }: ValueProblem, n: number, rank: number): number {
    const at = this.#stepBefore[n]! * bins + rank;
    const before = capacityBps[at]!;
    const share = this.#shareAfter[n]!;
    return share === 0 ? before : before + share * (capacityBps[at + bins]! - before);
  }

  /** The value after a download that takes `seconds` from point `n`, less its stall, in a row of `later`. */
  #valueAfter(row: number, n: number, seconds: number): number {
    const later = this.#later;
    const stall = seconds - this.#playable[n]!;
    if (stall > 0) {
      const at = row + this.#stalledCell[n]!;
      const low = later[at]!;
      return low + this.#stalledShare[n]! * (later[at + 1]! - low) - this.#mu * stall;
    }
    return this.#interpolated(row, this.#levels[n]! - seconds + this.#segmentSeconds);
  }

  /** The value at a buffer level of a row of `later`. */
  #interpolated(row: number, level: number): number {
    const later = this.#later;
    if (level >= this.#topLevel) return later[row + POINTS - 1]!;
    const cell = this.#cellAt(level);
    const low = later[row + cell]!;
    return low + (level - this.#levels[cell]!) * this.#perWidth[cell]! * (later[row + cell + 1]! - low);
  }

  /** The cell of the grid that holds a buffer level from 0 to below the highest. */
  #cellAt(level: number): number {
    const levels = this.#levels;
    let cell = CELL_OF[(level * this.#partsPerSecond) | 0]!;
    while (levels[cell + 1]! <= level) cell++;
    return cell;
  }

  /** Writes V(b, i, p) for all points into `values`. */
  #stageValues({ lambda, qualities }: ValueProblem, stage: ValueStage): void {
    const bins = this.#bins;
    const count = this.#count;
    const values = this.#values;
    const expected = this.#expected;
    const size = count * POINTS;
    for (let from = 0; from < bins; from++) {
      this.#expectFrom(from, stage.transitions);
      // Maximise over the next representation. A switch costs the same in steps, so neighbours suffice: up, then down.
      for (let k = 1; k < count; k++) {
        this.#raise(k, k - 1, lambda * (qualities[k]! - qualities[k - 1]!));
      }
      for (let k = count - 2; k >= 0; k--) {
        this.#raise(k, k + 1, lambda * (qualities[k + 1]! - qualities[k]!));
      }
      const table = from * size;
      for (let row = 0; row < size; row += POINTS) {
        for (let i = row + this.#first; i < row + this.#end; i++) values[table + i] = expected[i]!;
      }
    }
  }

  /** Writes Q(b, i, r) of one rank for all points into `expected`. */
  #expectFrom(from: number, transitions: Float64Array): void {
    const bins = this.#bins;
    const outcome = this.#outcome;
    const expected = this.#expected;
    const first = this.#first;
    const end = this.#end;
    const size = this.#count * POINTS;
    const likely = this.#likely;
    for (let to = 0; to < bins; to++) {
      const probability = transitions[from * bins + to]!;
      likely[to] = probability < NEGLIGIBLE ? 0 : probability;
    }
    for (let row = 0; row < size; row += POINTS) {
      for (let i = row + first; i < row + end; i++) {
        let sum = 0;
        for (let to = 0; to < bins; to++) sum += likely[to]! * outcome[to * size + i]!;
        expected[i] = sum;
      }
    }
  }

  /** Raises Q of `representation` to that of `other` less the cost of the switch, if that is more. */
  #raise(representation: number, other: number, cost: number): void {
    const expected = this.#expected;
    const row = representation * POINTS;
    const from = other * POINTS;
    for (let n = this.#first; n < this.#end; n++) {
      const value = expected[from + n]! - cost;
      if (value > expected[row + n]!) expected[row + n] = value;
    }
  }
}
