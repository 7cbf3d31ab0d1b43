/**
 * The value of a player's position some segments ahead: expected QoE to go, when every later decision may depend on the
 * capacity seen until then.
 *
 * Position: buffer level at the moment of a request, rank of the capacity seen last, representation chosen last. The
 * backward recursion per segment is
 *
 *   Q(b, i, r) = sum_j P(j | i) G(b, j, r),    V(b, i, p) = max_r Q(b, i, r) - lambda |q(r) - q(p)|
 *   G(b, j, r) = q(r) L/4 - mu stall + V_next(b', j, r)
 *
 * with the download at the capacity of rank j, taken between the middles of the forecast's steps for the time at which
 * the segment is asked for. That time needs no place in the position: while a video plays, what was buffered first, plus what was added, less what is buffered now, is the
 * time that has passed (stalls aside). After the last stage V is what the buffer is worth then. A download that would stall may be abandoned for a lower representation once it
 * shows (`reactionSeconds` after the request); G takes the better of the two.
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
  /** Capacity: ends of `steps` steps in seconds from now (the last one goes on), and bit/s, `[step * bins + rank]`. */
  steps: number;
  stepEndsSeconds: Float64Array;
  capacityBps: Float64Array;
  /** What is buffered now, before the segment that the first stage comes after. */
  bufferLevelSeconds: number;
  /** Later segments, soonest first. */
  stages: readonly ValueStage[];
  /** What a buffered second is worth after the last of them, per rank. */
  bufferValuePerSecond: Float64Array;
  /** Quality of each representation, `weights.quality(bitrate)`. */
  qualities: Float64Array;
  /** Quality of one segment per unit of quality: segmentSeconds / 4. */
  qualityScale: number;
  mu: number;
  lambda: number;
  segmentSeconds: number;
  bufferCapSeconds: number;
  latencySeconds: number;
  /** Level at which the element stalls. */
  stallLevelSeconds: number;
  /** `Infinity` = never abandons. */
  reactionSeconds: number;
  /** Nothing is abandoned while more than this is buffered: waiting costs nothing yet and tells more. */
  patienceSeconds: number;
}

/** Points of the buffer grid; the grid is finer near empty, where value bends. */
const POINTS = 25;
const GRID_POWER = 1.5;
/** Levels as shares of the highest, and the cell at or below each of `CELL_TABLE` equal parts. */
const LEVEL_SHARES = Float64Array.from({ length: POINTS }, (_, n) => (n / (POINTS - 1)) ** GRID_POWER);
const CELL_TABLE = 256;
const CELL_OF = Uint8Array.from({ length: CELL_TABLE }, (_, i) => {
  let cell = 0;
  while (cell < POINTS - 2 && LEVEL_SHARES[cell + 1]! <= i / CELL_TABLE) cell++;
  return cell;
});
/** Transitions that are less likely are left out. */
const NEGLIGIBLE = 1e-4;

/**
 * Seconds that a rank is held for while a download lasts; what is left then goes at the median rank, if that is faster. A
 * dead rank would otherwise be dead for ever, and a single bin of one stage outweigh the rest of the plan.
 */
const RANK_HOLD_SECONDS = 5;

/** Capacity is taken for so many segment durations after a request. */
const LOOK_AHEAD = 0.25;

/**
 * Keeps its tables between calls; `solve` overwrites them. A table is `[rank][representation][point of the grid]`, so
 * that inner loops run along the buffer levels of one row.
 */
export class ValueFunction {
  /** V of the segment at hand, and of the one after it. */
  private values = new Float64Array(0);
  private later = new Float64Array(0);
  /** G of the segment at hand. */
  private outcome = new Float64Array(0);
  private bins = 0;
  private count = 0;
  private isSolved = false;

  private mu = 0;
  private segmentSeconds = 0;
  private topLevel = 0;
  /** Per point: the level, what of it plays before the element stalls, 1 / distance to the next level. */
  private readonly levels = new Float64Array(POINTS);
  private readonly playable = new Float64Array(POINTS);
  private readonly perWidth = new Float64Array(POINTS);
  /** Where a download that stalls ends: what does not play, and the new segment. */
  private readonly stalledCell = new Uint8Array(POINTS);
  private readonly stalledShare = new Float64Array(POINTS);
  /** Seconds after a request at which it is abandoned for another. */
  private readonly onceAbandoned = new Float64Array(POINTS);
  /** Per point, when the segment at hand is asked for: the step of capacity before, and the share of the one after it. */
  private readonly stepBefore = new Uint8Array(POINTS);
  private readonly shareAfter = new Float64Array(POINTS);
  /** Per point, bit/s: of the rank at hand, and of a download that lasts. */
  private readonly rateBps = new Float64Array(POINTS);
  private readonly lastingBps = new Float64Array(POINTS);

  /** Representations by ascending quality. */
  private order = new Uint16Array(0);
  /** Q at one rank, `[representation][point]`. */
  private expected = new Float64Array(0);
  /** At one rank, `[representation][point]`: seconds of a download, and whether it may be abandoned (1). */
  private seconds = new Float64Array(0);
  private shows = new Uint8Array(0);
  /** Seconds until a download is in that replaces an abandoned one, per point. */
  private readonly replacedSeconds = new Float64Array(POINTS);
  /** What `land` found, per point. */
  private readonly landed = new Float64Array(POINTS);

  /** Value of being about to request the segment of the first stage; zero everywhere when there are no stages. */
  solve(problem: ValueProblem): void {
    const { stages, qualities } = problem;
    this.isSolved = stages.length > 0;
    if (!this.isSolved) return;
    this.reserve(problem.bins, qualities.length);
    this.layGrid(problem);
    this.sortByQuality(qualities);
    this.valueBuffer(problem);
    for (let k = stages.length - 1; k >= 0; k--) {
      this.stageOutcomes(problem, k);
      this.stageValues(problem, stages[k]!);
      const solved = this.values;
      this.values = this.later;
      this.later = solved;
    }
  }

  /** Interpolated value at a buffer level (after waiting for the cap), a rank bin and the representation before. */
  at(bufferSeconds: number, bin: number, representation: number): number {
    if (!this.isSolved) return 0;
    const { levels, later, topLevel } = this;
    const row = (bin * this.count + representation) * POINTS;
    if (bufferSeconds >= topLevel) return later[row + POINTS - 1]!;
    if (bufferSeconds <= 0) return later[row]!;
    const cell = this.cellAt(bufferSeconds);
    const low = later[row + cell]!;
    return low + (bufferSeconds - levels[cell]!) * this.perWidth[cell]! * (later[row + cell + 1]! - low);
  }

  /** Tables only ever grow, so that ladders may take turns. */
  private reserve(bins: number, count: number): void {
    this.bins = bins;
    this.count = count;
    const size = bins * count * POINTS;
    if (this.values.length < size) {
      this.values = new Float64Array(size);
      this.later = new Float64Array(size);
      this.outcome = new Float64Array(size);
    }
    if (this.order.length < count) {
      this.order = new Uint16Array(count);
      this.expected = new Float64Array(count * POINTS);
      this.seconds = new Float64Array(count * POINTS);
      this.shows = new Uint8Array(count * POINTS);
    }
  }

  private layGrid(problem: ValueProblem): void {
    const { levels, playable, perWidth, stalledCell, stalledShare, onceAbandoned } = this;
    this.mu = problem.mu;
    this.segmentSeconds = problem.segmentSeconds;
    this.topLevel = Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds);
    for (let n = 0; n < POINTS; n++) {
      levels[n] = this.topLevel * LEVEL_SHARES[n]!;
      playable[n] = Math.max(0, levels[n]! - problem.stallLevelSeconds);
      onceAbandoned[n] = Math.max(problem.reactionSeconds, playable[n]! - problem.patienceSeconds);
      if (n > 0) perWidth[n - 1] = 1 / (levels[n]! - levels[n - 1]!);
    }
    let cell = 0;
    for (let n = 0; n < POINTS; n++) {
      const level = Math.min(this.topLevel, levels[n]! - playable[n]! + problem.segmentSeconds);
      while (cell < POINTS - 2 && levels[cell + 1]! <= level) cell++;
      stalledCell[n] = cell;
      stalledShare[n] = (level - levels[cell]!) * perWidth[cell]!;
    }
  }

  /** What is left after the last stage, into `later`. */
  private valueBuffer({ bufferValuePerSecond }: ValueProblem): void {
    const { bins, count, later, levels } = this;
    for (let row = 0; row < bins * count; row++) {
      const perSecond = bufferValuePerSecond[Math.floor(row / count)]!;
      for (let n = 0; n < POINTS; n++) later[row * POINTS + n] = perSecond * levels[n]!;
    }
  }

  private sortByQuality(qualities: Float64Array): void {
    const { order, count } = this;
    for (let r = 0; r < count; r++) {
      let place = r;
      for (; place > 0 && qualities[order[place - 1]!]! > qualities[r]!; place--) order[place] = order[place - 1]!;
      order[place] = r;
    }
  }

  /** G(b, j, r) for all points of stage `k`. */
  private stageOutcomes(problem: ValueProblem, k: number): void {
    const { levels, stepBefore, shareAfter } = this;
    const { stepEndsSeconds: ends, segmentSeconds } = problem;
    const last = problem.steps - 1;
    const middleOf = (step: number) => (step === 0 ? ends[0]! / 2 : (ends[step - 1]! + ends[step]!) / 2);
    // What was buffered and what came since, less what is left, has been played.
    const whenEmpty = problem.bufferLevelSeconds + (k + 1 + LOOK_AHEAD) * segmentSeconds;
    let step = last;
    for (let n = 0; n < POINTS; n++) {
      const seconds = whenEmpty - levels[n]!;
      while (step > 0 && seconds < middleOf(step)) step--;
      stepBefore[n] = step;
      const middle = middleOf(step);
      shareAfter[n] = step === last ? 0 : Math.max(0, (seconds - middle) / Math.max(1e-9, middleOf(step + 1) - middle));
    }
    for (let rank = 0; rank < this.bins; rank++) this.rankOutcomes(problem, problem.stages[k]!.sizesBits, rank);
  }

  /** G(b, j, r) for all points at one rank. */
  private rankOutcomes(problem: ValueProblem, sizesBits: readonly number[], rank: number): void {
    const { bins, count, outcome, landed, seconds, shows, playable } = this;
    const { replacedSeconds, onceAbandoned, rateBps, lastingBps } = this;
    const { qualities, qualityScale, lambda, latencySeconds } = problem;
    for (let n = 0; n < POINTS; n++) {
      const rate = this.rateAt(problem, n, rank);
      rateBps[n] = rate;
      lastingBps[n] = Math.max(rate, this.rateAt(problem, n, bins >> 1));
    }
    const table = rank * count * POINTS;
    let abandonable = 0;
    for (let r = 0; r < count; r++) {
      const row = r * POINTS;
      const bits = sizesBits[r]!;
      for (let n = 0; n < POINTS; n++) {
        const atRank = bits / rateBps[n]!;
        const takes =
          latencySeconds +
          (atRank <= RANK_HOLD_SECONDS
            ? atRank
            : RANK_HOLD_SECONDS + (bits - RANK_HOLD_SECONDS * rateBps[n]!) / lastingBps[n]!);
        seconds[row + n] = takes;
        // Shows in time that it stalls.
        if (takes > onceAbandoned[n]! && takes > playable[n]! && r > 0) {
          shows[row + n] = 1;
          if (n >= abandonable) abandonable = n + 1;
        } else {
          shows[row + n] = 0;
        }
      }
      this.land(rank, r, seconds, row, POINTS);
      for (let n = 0; n < POINTS; n++) outcome[table + row + n] = qualityScale * qualities[r]! + landed[n]!;
    }
    for (let lower = 0; lower < count - 1 && abandonable > 0; lower++) {
      for (let n = 0; n < abandonable; n++) replacedSeconds[n] = onceAbandoned[n]! + seconds[lower * POINTS + n]!;
      this.land(rank, lower, replacedSeconds, 0, abandonable);
      for (let r = lower + 1; r < count; r++) {
        // V charges the change to r; dropping on from there costs the rest (exact where p >= r).
        const gain = qualityScale * qualities[lower]! - lambda * (qualities[r]! - qualities[lower]!);
        const row = r * POINTS;
        for (let n = 0; n < abandonable; n++) {
          // Only what comes sooner is worth the change.
          if (shows[row + n] === 0 || replacedSeconds[n]! >= seconds[row + n]!) continue;
          const value = gain + landed[n]!;
          if (value > outcome[table + row + n]!) outcome[table + row + n] = value;
        }
      }
    }
  }

  /** Capacity of a rank when the segment at hand is asked for at a point. */
  private rateAt({ capacityBps }: ValueProblem, n: number, rank: number): number {
    const { bins, stepBefore, shareAfter } = this;
    const at = stepBefore[n]! * bins + rank;
    const before = capacityBps[at]!;
    const share = shareAfter[n]!;
    return share === 0 ? before : before + share * (capacityBps[at + bins]! - before);
  }

  /** The value after a download, less its stall, from the levels below point `end`, into `landed`. */
  private land(rank: number, representation: number, seconds: Float64Array, secondsRow: number, end: number): void {
    const { levels, playable, perWidth, stalledCell, stalledShare, landed, later, topLevel, segmentSeconds, mu } = this;
    const row = (rank * this.count + representation) * POINTS;
    const top = later[row + POINTS - 1]!;
    for (let n = 0; n < end; n++) {
      const takes = seconds[secondsRow + n]!;
      const stall = takes - playable[n]!;
      if (stall > 0) {
        const at = row + stalledCell[n]!;
        const low = later[at]!;
        landed[n] = low + stalledShare[n]! * (later[at + 1]! - low) - mu * stall;
        continue;
      }
      const level = levels[n]! - takes + segmentSeconds;
      if (level >= topLevel) {
        landed[n] = top;
        continue;
      }
      const cell = this.cellAt(level);
      const low = later[row + cell]!;
      landed[n] = low + (level - levels[cell]!) * perWidth[cell]! * (later[row + cell + 1]! - low);
    }
  }

  /** The cell of the grid that holds a level of 0 to below the highest. */
  private cellAt(level: number): number {
    const { levels, topLevel } = this;
    let cell = CELL_OF[((level / topLevel) * CELL_TABLE) | 0]!;
    while (levels[cell + 1]! <= level) cell++;
    return cell;
  }

  /** V(b, i, p) for all points, into `values`. */
  private stageValues({ lambda, qualities }: ValueProblem, stage: ValueStage): void {
    const { bins, count, values, expected, order } = this;
    const size = count * POINTS;
    for (let from = 0; from < bins; from++) {
      this.expectFrom(from, stage.transitions);
      // The best after the change to it. A change costs as much in steps, so that neighbours suffice: once up, once down.
      for (let k = 1; k < count; k++) {
        const cost = lambda * (qualities[order[k]!]! - qualities[order[k - 1]!]!);
        this.raise(order[k]!, order[k - 1]!, cost);
      }
      for (let k = count - 2; k >= 0; k--) {
        const cost = lambda * (qualities[order[k + 1]!]! - qualities[order[k]!]!);
        this.raise(order[k]!, order[k + 1]!, cost);
      }
      const table = from * size;
      for (let i = 0; i < size; i++) values[table + i] = expected[i]!;
    }
  }

  /** Q(b, i, r) of one rank for all points, into `expected`. */
  private expectFrom(from: number, transitions: Float64Array): void {
    const { bins, outcome, expected } = this;
    const size = this.count * POINTS;
    const likely = (to: number) => {
      const probability = transitions[from * bins + to]!;
      return probability < NEGLIGIBLE ? 0 : probability;
    };
    expected.fill(0);
    let to = 0;
    // Four ranks at a time: what takes time is to load and store the sums.
    for (; to + 3 < bins; to += 4) {
      const [p0, p1, p2, p3] = [likely(to), likely(to + 1), likely(to + 2), likely(to + 3)];
      const t0 = to * size;
      const t1 = t0 + size;
      const t2 = t1 + size;
      const t3 = t2 + size;
      for (let i = 0; i < size; i++) {
        expected[i] =
          expected[i]! +
          (p0 * outcome[t0 + i]! + p1 * outcome[t1 + i]!) +
          (p2 * outcome[t2 + i]! + p3 * outcome[t3 + i]!);
      }
    }
    for (; to < bins; to++) {
      const p = likely(to);
      const t = to * size;
      for (let i = 0; i < size; i++) expected[i] = expected[i]! + p * outcome[t + i]!;
    }
  }

  /** What `other` is worth to a viewer of `representation`, where that is more. */
  private raise(representation: number, other: number, cost: number): void {
    const { expected } = this;
    const row = representation * POINTS;
    const from = other * POINTS;
    for (let n = 0; n < POINTS; n++) {
      const value = expected[from + n]! - cost;
      if (value > expected[row + n]!) expected[row + n] = value;
    }
  }
}
