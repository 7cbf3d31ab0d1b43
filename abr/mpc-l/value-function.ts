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
 * with the download at the capacity of rank j. A download that would stall may be abandoned for a lower representation
 * once it shows (`reactionSeconds` after the request); G takes the better of the two.
 */

export interface ValueStage {
  /** Capacity of each rank during this segment's download, bit/s. */
  capacityBps: Float64Array;
  /** `[from * bins + to]`. */
  transitions: Float64Array;
  /** Size of each representation of this segment in bits. */
  sizesBits: readonly number[];
}

export interface ValueProblem {
  /** Later segments, soonest first. */
  stages: readonly ValueStage[];
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
 * Seconds that a rank is held for while a download lasts; what is left then goes at the median rate. A dead rank would
 * otherwise be dead for ever, and a single bin of one stage outweigh the rest of the plan.
 */
const RANK_HOLD_SECONDS = 5;

function transferSeconds(bits: number, rankBps: number, medianBps: number): number {
  const seconds = bits / rankBps;
  if (seconds <= RANK_HOLD_SECONDS) return seconds;
  return RANK_HOLD_SECONDS + (bits - RANK_HOLD_SECONDS * rankBps) / Math.max(rankBps, medianBps);
}

/** When a download is begun: seconds after the decision, for each of the first `points` levels. */
interface Beginning {
  seconds: Float64Array;
  points: number;
}

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
  private readonly atOnce: Beginning = { seconds: new Float64Array(POINTS), points: POINTS };
  /** What replaces an abandoned download. */
  private readonly onceAbandoned: Beginning = { seconds: new Float64Array(POINTS), points: 0 };

  /** Representations by ascending quality. */
  private order = new Uint16Array(0);
  /** Q at one rank, `[representation][point]`. */
  private expected = new Float64Array(0);
  /** Per representation, at one rank: seconds of its download, and at how many of the lowest levels it is abandoned. */
  private seconds = new Float64Array(0);
  private abandonedPoints = new Uint8Array(0);
  /** What `land` found, per point. */
  private readonly landed = new Float64Array(POINTS);

  /** Value of being about to request the segment of the first stage; zero everywhere when there are no stages. */
  solve(problem: ValueProblem): void {
    const { stages, qualities } = problem;
    this.isSolved = stages.length > 0;
    if (!this.isSolved) return;
    this.reserve(stages[0]!.capacityBps.length, qualities.length);
    this.layGrid(problem);
    this.sortByQuality(qualities);
    this.later.fill(0);
    for (let k = stages.length - 1; k >= 0; k--) {
      this.stageOutcomes(problem, stages[k]!);
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
    let cell = CELL_OF[((bufferSeconds / topLevel) * CELL_TABLE) | 0]!;
    while (levels[cell + 1]! <= bufferSeconds) cell++;
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
    if (this.seconds.length < count) {
      this.order = new Uint16Array(count);
      this.expected = new Float64Array(count * POINTS);
      this.seconds = new Float64Array(count);
      this.abandonedPoints = new Uint8Array(count);
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
      onceAbandoned.seconds[n] = Math.max(problem.reactionSeconds, playable[n]! - problem.patienceSeconds);
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

  private sortByQuality(qualities: Float64Array): void {
    const { order, count } = this;
    for (let r = 0; r < count; r++) {
      let place = r;
      for (; place > 0 && qualities[order[place - 1]!]! > qualities[r]!; place--) order[place] = order[place - 1]!;
      order[place] = r;
    }
  }

  /** G(b, j, r) for all points. */
  private stageOutcomes(problem: ValueProblem, stage: ValueStage): void {
    const { bins, count, outcome, landed, seconds, abandonedPoints, atOnce, onceAbandoned } = this;
    const { qualities, qualityScale, lambda } = problem;
    const medianBps = stage.capacityBps[bins >> 1]!;
    for (let rank = 0; rank < bins; rank++) {
      const table = rank * count * POINTS;
      onceAbandoned.points = 0;
      for (let r = 0; r < count; r++) {
        seconds[r] = problem.latencySeconds + transferSeconds(stage.sizesBits[r]!, stage.capacityBps[rank]!, medianBps);
        const points = r === 0 ? 0 : this.pointsToAbandon(seconds[r]!);
        abandonedPoints[r] = points;
        if (points > onceAbandoned.points) onceAbandoned.points = points;
        this.land(rank, r, atOnce);
        const row = table + r * POINTS;
        for (let n = 0; n < POINTS; n++) outcome[row + n] = qualityScale * qualities[r]! + landed[n]!;
      }
      if (onceAbandoned.points === 0) continue;
      for (let lower = 0; lower < count - 1; lower++) {
        this.land(rank, lower, onceAbandoned);
        for (let r = lower + 1; r < count; r++) {
          // V charges the change to r; dropping on from there costs the rest (exact where p >= r).
          const gain = qualityScale * qualities[lower]! - lambda * (qualities[r]! - qualities[lower]!);
          const row = table + r * POINTS;
          for (let n = 0; n < abandonedPoints[r]!; n++) {
            // Only what comes sooner is worth the change; the more is buffered the longer it takes.
            if (onceAbandoned.seconds[n]! + seconds[lower]! >= seconds[r]!) break;
            const value = gain + landed[n]!;
            if (value > outcome[row + n]!) outcome[row + n] = value;
          }
        }
      }
    }
  }

  /** At how many of the lowest levels a download of so many seconds shows in time that it stalls or eats the buffer up. */
  private pointsToAbandon(seconds: number): number {
    const { playable, onceAbandoned } = this;
    let n = 0;
    while (
      n < POINTS &&
      seconds > onceAbandoned.seconds[n]! &&
      (seconds > playable[n]! || seconds > this.segmentSeconds)
    )
      n++;
    return n;
  }

  /** The value after a download, less its stall, from each level that `begun` has, into `landed`. */
  private land(rank: number, representation: number, begun: Beginning): void {
    const { levels, playable, perWidth, stalledCell, stalledShare, landed, later, topLevel, segmentSeconds, mu } = this;
    const row = (rank * this.count + representation) * POINTS;
    const seconds = this.seconds[representation]!;
    // From the lowest levels up: those that run empty, those that do not, those that are full again after it.
    let n = 0;
    for (; n < begun.points; n++) {
      const stall = begun.seconds[n]! + seconds - playable[n]!;
      if (stall <= 0) break;
      const at = row + stalledCell[n]!;
      const low = later[at]!;
      landed[n] = low + stalledShare[n]! * (later[at + 1]! - low) - mu * stall;
    }
    let cell = 0;
    for (; n < begun.points; n++) {
      const level = levels[n]! - (begun.seconds[n]! + seconds) + segmentSeconds;
      if (level >= topLevel) break;
      while (levels[cell + 1]! <= level) cell++;
      const low = later[row + cell]!;
      landed[n] = low + (level - levels[cell]!) * perWidth[cell]! * (later[row + cell + 1]! - low);
    }
    const top = later[row + POINTS - 1]!;
    for (; n < begun.points; n++) landed[n] = top;
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
