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
const BUFFER_POINTS = 25;
const GRID_POWER = 1.5;
/** Levels as shares of the highest, and the cell at or below each of `CELL_TABLE` equal parts. */
const LEVEL_SHARES = Float64Array.from({ length: BUFFER_POINTS }, (_, n) => (n / (BUFFER_POINTS - 1)) ** GRID_POWER);
const CELL_TABLE = 256;
const CELL_OF = Uint8Array.from({ length: CELL_TABLE }, (_, i) => {
  let cell = 0;
  while (cell < BUFFER_POINTS - 2 && LEVEL_SHARES[cell + 1]! <= i / CELL_TABLE) cell++;
  return cell;
});

/** Keeps its tables between calls; `solve` overwrites them. */
export class ValueFunction {
  private current = new Float64Array(0);
  private next = new Float64Array(0);
  private outcome = new Float64Array(0);
  private readonly levels = new Float64Array(BUFFER_POINTS);
  private bins = 0;
  private count = 0;
  private topLevel = 0;
  private isSolved = false;

  /** Value of being about to request the segment of the first stage; zero everywhere when there are no stages. */
  solve(problem: ValueProblem): void {
    const { stages, qualities } = problem;
    const bins = stages[0]?.capacityBps.length ?? 1;
    const count = qualities.length;
    this.reserve(bins, count);
    this.topLevel = Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds);
    for (let n = 0; n < BUFFER_POINTS; n++) {
      this.levels[n] = this.topLevel * LEVEL_SHARES[n]!;
    }
    this.next.fill(0);
    this.isSolved = stages.length > 0;
    for (let k = stages.length - 1; k >= 0; k--) {
      this.stageOutcomes(problem, stages[k]!, k === stages.length - 1);
      this.stageValues(problem, stages[k]!);
      const done = this.current;
      this.current = this.next;
      this.next = done;
    }
  }

  /** Interpolated value at a buffer level (after waiting for the cap), a rank bin and the representation before. */
  at(bufferSeconds: number, bin: number, representation: number): number {
    if (!this.isSolved) return 0;
    const { count, bins } = this;
    const position = this.gridPosition(bufferSeconds);
    const low = position | 0;
    const share = position - low;
    const offset = bin * count + representation;
    const row = bins * count;
    const a = this.next[low * row + offset]!;
    if (share === 0) return a;
    return a + share * (this.next[(low + 1) * row + offset]! - a);
  }

  private reserve(bins: number, count: number): void {
    const size = BUFFER_POINTS * bins * count;
    if (this.current.length !== size || this.bins !== bins || this.count !== count) {
      this.current = new Float64Array(size);
      this.next = new Float64Array(size);
      this.outcome = new Float64Array(size);
      this.bins = bins;
      this.count = count;
    }
  }

  /** Cell and share within it of a buffer level, as one number. */
  private gridPosition(bufferSeconds: number): number {
    if (bufferSeconds >= this.topLevel) return BUFFER_POINTS - 1;
    if (bufferSeconds <= 0) return 0;
    const { levels } = this;
    let cell = CELL_OF[((bufferSeconds / this.topLevel) * CELL_TABLE) | 0]!;
    while (levels[cell + 1]! <= bufferSeconds) cell++;
    const low = levels[cell]!;
    return cell + (bufferSeconds - low) / (levels[cell + 1]! - low);
  }

  /** G(b, j, r) for all points. */
  private stageOutcomes(problem: ValueProblem, stage: ValueStage, last: boolean): void {
    const { bins, count, outcome, levels } = this;
    const { mu, qualityScale, qualities, latencySeconds, reactionSeconds, segmentSeconds, stallLevelSeconds } = problem;
    for (let j = 0; j < bins; j++) {
      const capacity = stage.capacityBps[j]!;
      for (let r = 0; r < count; r++) {
        const seconds = latencySeconds + stage.sizesBits[r]! / capacity;
        for (let n = 0; n < BUFFER_POINTS; n++) {
          const playable = Math.max(0, levels[n]! - stallLevelSeconds);
          const value = this.landing(levels[n]!, playable, seconds, segmentSeconds, j, r, last, mu);
          let best = qualityScale * qualities[r]! + value;
          const reaction = Math.max(reactionSeconds, playable - problem.patienceSeconds);
          if (seconds > reaction && (seconds > playable || seconds > segmentSeconds)) {
            for (let lower = 0; lower < r; lower++) {
              const again = reaction + latencySeconds + stage.sizesBits[lower]! / capacity;
              if (again >= seconds) continue;
              const other =
                qualityScale * qualities[lower]! -
                // V charges the change to r; dropping on from there costs the rest (exact where p >= r).
                problem.lambda * (qualities[r]! - qualities[lower]!) +
                this.landing(levels[n]!, playable, again, segmentSeconds, j, lower, last, mu);
              if (other > best) best = other;
            }
          }
          outcome[(n * bins + j) * count + r] = best;
        }
      }
    }
  }

  private landing(
    level: number,
    playable: number,
    seconds: number,
    segmentSeconds: number,
    bin: number,
    representation: number,
    last: boolean,
    mu: number,
  ): number {
    const stall = seconds > playable ? seconds - playable : 0;
    const after = Math.max(level - seconds, level - playable) + segmentSeconds;
    return (last ? 0 : this.at(after, bin, representation)) - mu * stall;
  }

  /** V(b, i, p) for all points, into `current`. */
  private stageValues(problem: ValueProblem, stage: ValueStage): void {
    const { bins, count, outcome, current } = this;
    const { lambda, qualities } = problem;
    const expected = this.expected.length >= count ? this.expected : new Float64Array(count);
    this.expected = expected;
    for (let n = 0; n < BUFFER_POINTS; n++) {
      for (let i = 0; i < bins; i++) {
        expected.fill(0);
        for (let j = 0; j < bins; j++) {
          const probability = stage.transitions[i * bins + j]!;
          if (probability < 1e-4) continue;
          const at = (n * bins + j) * count;
          for (let r = 0; r < count; r++) expected[r] = expected[r]! + probability * outcome[at + r]!;
        }
        for (let p = 0; p < count; p++) {
          let best = Number.NEGATIVE_INFINITY;
          for (let r = 0; r < count; r++) {
            const value = expected[r]! - lambda * Math.abs(qualities[r]! - qualities[p]!);
            if (value > best) best = value;
          }
          current[(n * bins + i) * count + p] = best;
        }
      }
    }
  }

  private expected = new Float64Array(0);
}
