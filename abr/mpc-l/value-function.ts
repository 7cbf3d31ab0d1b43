/**
 * The value function of the later segments: the expected score from a segment on, if every later decision may depend on
 * the capacity seen until then. value-function.fixture.ts is the plain reference.
 *
 * A state is the buffer level at a request, the rank of the last seen capacity, and the previous representation. The
 * backward recursion per segment is
 *
 *   Q(b, i, r) = sum_j P(j | i) G(b, j, r),    V(b, i, p) = w (max_r (Q(b, i, r) - S(p, r)) - O(b))
 *   G(b, j, r) = u(r) L/4 - C(stall) + V_next(b', j, r)
 *
 * with u the quality of this segment less the price of its bits, S the cost of the switch, C the cost of the stall, w the share of the previous
 * segment's viewers who still watch, and O the expected cost of an outage that begins in this segment: at rate h, for
 * an exponential time of mean D, O(b) = h L C(D) exp(-b / D). The download runs at the capacity of rank j, interpolated
 * between the middles of the forecast's steps. Elapsed time is not a state variable: apart from stalls it equals the
 * initial buffer plus appended media minus the current buffer. After the last stage V is the value of the remaining
 * buffer. A download that would stall may be abandoned for a lower representation `reactionSeconds` after its request;
 * G takes the better.
 *
 * All seconds, also buffer levels and segment durations, are seconds of the clock.
 */

import { beginShare, type ChangePrices, changeCost, type StallPrices } from '../qoe/qoe.ts';

/** The grid of buffer levels is finer near empty, where the value bends. On recordings no choice gains from more points. */
const POINTS = 25;
const GRID_POWER = 1.5;
const LEVEL_SHARES = Float64Array.from({ length: POINTS }, (_, n) => (n / (POINTS - 1)) ** GRID_POWER);
/** The cell of the grid with the start of each of `PARTS` equal parts of the levels. */
const PARTS = 256;
const INNER_SHARES = LEVEL_SHARES.subarray(1, POINTS - 1);
const CELL_OF = Uint8Array.from({ length: PARTS }, (_, i) => INNER_SHARES.filter((share) => share <= i / PARTS).length);

/**
 * A rank holds for this many seconds of a download. The rest runs at the median rank, if that is faster, so that a
 * single dead bin of one stage does not outweigh the rest of the plan.
 */
const RANK_HOLD_SECONDS = 5;

/** A download has the capacity of its middle, about this many segment durations after its request. */
const LOOK_AHEAD = 0.25;

/** A problem has at most as many ranks. */
export const MOST_BINS = 8;

/** Mean duration of an outage. */
export const OUTAGE_SECONDS = 20;

export interface ValueProblem {
  /** Number of ranks of capacity; at most `MOST_BINS`. */
  bins: number;
  /** Ends of the steps in seconds from now; the last step goes on. */
  stepEndsSeconds: readonly number[];
  /** `[step * bins + rank]` in bit/s. */
  capacityBps: Float64Array;
  /** Buffer level now, before the segment to decide on. The first stage is the segment after it. */
  bufferLevelSeconds: number;
  count: number;
  /** Later segments, soonest first. */
  stages: readonly LaterSegment[];
  /** Value of a buffered second after the last stage, per rank. */
  bufferValuePerSecond: readonly number[];
  costs: Required<StallPrices> & ChangePrices;
  /** Expected cost per second of outages beyond the ranks' capacity that begin while nothing is buffered. */
  outageCostPerSecond: number;
  /** Duration of the segment to decide on. */
  decidedSeconds: number;
  /** Usual duration of a segment: the player sends a request when the buffer has room for it. */
  segmentSeconds: number;
  bufferCapSeconds: number;
  latencySeconds: number;
  /** Buffer level at which the media element stalls. */
  stallLevelSeconds: number;
  /** Seconds from a request to the abandonment of a download that would stall; `Infinity`: never. */
  reactionSeconds: number;
  /** No download is abandoned while more than this is buffered. */
  patienceSeconds: number;
  /** Range of buffer levels at the first stage, from at most the duration of the shortest segment on. */
  leastLevelSeconds: number;
  mostLevelSeconds: number;
}

export interface LaterSegment {
  seconds: number;
  /** QoE of the segment per unit of quality: its seconds of media / 4. */
  qualityScale: number;
  /** `[from * MOST_BINS + to]`; 0 for ranks that do not exist. */
  transitions: Float64Array;
  sizesBits: readonly number[];
  qualities: readonly number[];
  /** Qualities less the price of the bits. */
  worths: readonly number[];
  /** Share of the previous segment's viewers who watch this segment, 0 to 1. */
  watchShare: number;
}

/** The constructor solves the problem. Without stages the value is the buffer's. */
export class ValueFunction {
  /**
   * The last instance is kept, because V8 drops its optimised code for a kind of object when a garbage collection
   * between two decisions finds none.
   */
  static latest: ValueFunction | undefined;
  private readonly _problem: ValueProblem;
  private readonly _count: number;
  private readonly _topLevel: number;
  /** Per point: buffer level, and 1 / distance to the next point. */
  private readonly _levels = new Float64Array(POINTS);
  private readonly _perWidth = new Float64Array(POINTS);
  /** Parts of `CELL_OF` per second of buffer, reduced a little, so that rounding never leads to the next part. */
  private readonly _partsPerSecond: number;
  /** The lowest used point: every download ends with a new segment in the buffer. */
  private readonly _first: number;
  /** `[rank][representation][point]`: V of the next stage, G of the current stage. */
  private readonly _later: Float64Array;
  private readonly _outcome: Float64Array;
  /** `[representation][point]`: seconds of a download at the current rank. */
  private readonly _seconds: Float64Array;
  /** Per point: seconds until the element stalls, and until the plan abandons a download that would stall. */
  private readonly _playable = new Float64Array(POINTS);
  private readonly _abandonedAt = new Float64Array(POINTS);
  /** Per point: expected cost of an outage that begins in a second. */
  private readonly _outageCost = new Float64Array(POINTS);
  /** `[rank][point]`: capacity at a request in the current stage, in bit/s. */
  private readonly _ratesBps: Float64Array;
  private readonly _mu: number;
  private readonly _stall: number;
  /** Duration of the current stage's segment. */
  private _segmentSeconds = 0;

  constructor(problem: ValueProblem) {
    this._problem = problem;
    this._count = problem.count;
    const { mu, stall } = problem.costs;
    this._topLevel = Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds);
    this._partsPerSecond = ((1 - 1e-12) * PARTS) / this._topLevel;
    this._mu = mu;
    this._stall = stall;
    this._ratesBps = new Float64Array(problem.bins * POINTS);
    for (let n = 0; n < POINTS; n++) {
      const level = this._topLevel * LEVEL_SHARES[n]!;
      this._levels[n] = level;
      this._playable[n] = Math.max(0, level - problem.stallLevelSeconds);
      this._abandonedAt[n] = Math.max(problem.reactionSeconds, this._playable[n]! - problem.patienceSeconds);
      if (n > 0) this._perWidth[n - 1] = 1 / (level - this._levels[n - 1]!);
      this._outageCost[n] = problem.outageCostPerSecond * Math.exp(-level / OUTAGE_SECONDS);
    }
    const rows = problem.bins * this._count;
    this._later = new Float64Array(rows * POINTS);
    this._outcome = new Float64Array(MOST_BINS * this._count * POINTS);
    this._seconds = new Float64Array(this._count * POINTS);
    // `_cellAt` is optimised for objects with all fields.
    this._first = 0;
    this._first = this._cellAt(problem.leastLevelSeconds);
    for (let row = 0; row < rows; row++) {
      const perSecond = problem.bufferValuePerSecond[Math.floor(row / this._count)]!;
      for (let n = 0; n < POINTS; n++) this._later[row * POINTS + n] = perSecond * this._levels[n]!;
    }
    const ends = [this._cellAt(problem.mostLevelSeconds) + 2];
    for (const k of problem.stages.keys()) {
      ends.push(this._cellAt(this._levels[ends[k]! - 1]! + problem.stages[k]!.seconds) + 2);
    }
    let appendedSeconds = problem.decidedSeconds;
    const appended = problem.stages.map(({ seconds }) => {
      const before = appendedSeconds;
      appendedSeconds += seconds;
      return before;
    });
    for (let k = problem.stages.length - 1; k >= 0; k--) {
      this._segmentSeconds = problem.stages[k]!.seconds;
      this._playStage(k, appended[k]!, ends[k]!);
      this._chooseInStage(k, ends[k]!);
    }
    ValueFunction.latest = this;
  }

  /** Value at a buffer level, a rank and the previous representation. A request waits above the cap. */
  at(bufferSeconds: number, bin: number, representation: number): number {
    return this._interpolated((bin * this._count + representation) * POINTS, Math.max(0, bufferSeconds));
  }

  /** Writes G(b, j, r) of stage `k`, after `appendedSeconds` of media, into `_outcome` for points below `end`. */
  private _playStage(k: number, appendedSeconds: number, end: number): void {
    const { bins, stepEndsSeconds: ends, capacityBps, bufferLevelSeconds } = this._problem;
    const levels = this._levels;
    const last = ends.length - 1;
    const middleOf = (step: number) => (step === 0 ? ends[0]! / 2 : (ends[step - 1]! + ends[step]!) / 2);
    // Elapsed time = initial buffer + appended media - current buffer (0 here).
    const whenEmpty = bufferLevelSeconds + appendedSeconds + LOOK_AHEAD * this._segmentSeconds;
    let step = last;
    for (let n = this._first; n < end; n++) {
      const seconds = whenEmpty - levels[n]!;
      while (step > 0 && seconds < middleOf(step)) step--;
      const middle = middleOf(step);
      const share = step === last ? 0 : Math.max(0, (seconds - middle) / Math.max(1e-9, middleOf(step + 1) - middle));
      for (let rank = 0; rank < bins; rank++) {
        const before = capacityBps[step * bins + rank]!;
        this._ratesBps[rank * POINTS + n] =
          share === 0 ? before : before + share * (capacityBps[(step + 1) * bins + rank]! - before);
      }
    }
    for (let rank = 0; rank < bins; rank++) this._playDownloads(k, rank, end);
  }

  /** Writes G(b, j, r) of one rank. */
  private _playDownloads(k: number, rank: number, end: number): void {
    const { bins, latencySeconds, stages } = this._problem;
    const { sizesBits, worths, qualityScale, seconds: segmentSeconds } = stages[k]!;
    const ratesBps = this._ratesBps;
    const outcome = this._outcome;
    const seconds = this._seconds;
    const levels = this._levels;
    const playable = this._playable;
    const abandonedAt = this._abandonedAt;
    const median = (bins >> 1) * POINTS;
    for (let r = 0; r < this._count; r++) {
      const bits = sizesBits[r]!;
      const gain = qualityScale * worths[r]!;
      const row = r * POINTS;
      const at = rank * this._count * POINTS + row;
      for (let n = this._first; n < end; n++) {
        const rateBps = ratesBps[rank * POINTS + n]!;
        let takes = bits / rateBps;
        if (takes > RANK_HOLD_SECONDS) {
          const left = bits - RANK_HOLD_SECONDS * rateBps;
          takes = RANK_HOLD_SECONDS + left / Math.max(rateBps, ratesBps[median + n]!);
        }
        takes += latencySeconds;
        seconds[row + n] = takes;
        const stalls = takes > playable[n]!;
        const value =
          gain +
          (stalls ? this._valueAfter(at, n, takes) : this._interpolated(at, levels[n]! - takes + segmentSeconds));
        outcome[at + n] = stalls && takes > abandonedAt[n]! ? this._bestAbandoned(k, at - row, r, n, value) : value;
      }
    }
  }

  /** The greater value at point `n`: `kept`, or of the download abandoned for a lower representation. */
  private _bestAbandoned(k: number, table: number, r: number, n: number, kept: number): number {
    const { costs, stages } = this._problem;
    const { qualities, worths, qualityScale } = stages[k]!;
    let best = kept;
    for (let lower = 0; lower < r; lower++) {
      const replaced = this._abandonedAt[n]! + this._seconds[lower * POINTS + n]!;
      // A replacement has to arrive sooner.
      if (replaced >= this._seconds[r * POINTS + n]!) continue;
      // V charges the switch to r. The switch from r to `lower` costs extra (exact for p >= r).
      const gain = qualityScale * worths[lower]! - changeCost(costs, qualities[r]!, qualities[lower]!);
      best = Math.max(best, gain + this._valueAfter(table + lower * POINTS, n, replaced));
    }
    return best;
  }

  /** The value after a download that takes `seconds` from point `n`, less its stall, in a row of `_later`. */
  private _valueAfter(row: number, n: number, seconds: number): number {
    const played = Math.min(seconds, this._playable[n]!);
    const level = this._levels[n]! - played + this._segmentSeconds;
    const stalled = seconds - played;
    return this._interpolated(row, level) - this._mu * stalled - this._stall * beginShare(stalled);
  }

  /** The value at a buffer level in a row of `_later`. */
  private _interpolated(row: number, level: number): number {
    const later = this._later;
    if (level >= this._topLevel) return later[row + POINTS - 1]!;
    const cell = this._cellAt(level);
    const low = later[row + cell]!;
    return low + (level - this._levels[cell]!) * this._perWidth[cell]! * (later[row + cell + 1]! - low);
  }

  /** The cell of the grid with a buffer level; the highest cell for levels above the grid. */
  private _cellAt(level: number): number {
    if (level >= this._topLevel) return POINTS - 2;
    let cell = CELL_OF[(level * this._partsPerSecond) | 0]!;
    while (this._levels[cell + 1]! <= level) cell++;
    return cell;
  }

  /** Writes V(b, i, p) of stage `k` into `_later` for points below `end`. */
  private _chooseInStage(k: number, end: number): void {
    const { bins, costs, stages } = this._problem;
    const { transitions, watchShare, qualities, seconds } = stages[k]!;
    const count = this._count;
    const later = this._later;
    const outcome = this._outcome;
    const size = count * POINTS;
    for (let row = 0; row < size; row += POINTS) {
      for (let n = this._first; n < end; n++) {
        const i = row + n;
        const outage = seconds * this._outageCost[n]!;
        // Written out, because a loop is slower.
        const g0 = outcome[i]!;
        const g1 = outcome[i + size]!;
        const g2 = outcome[i + 2 * size]!;
        const g3 = outcome[i + 3 * size]!;
        const g4 = outcome[i + 4 * size]!;
        const g5 = outcome[i + 5 * size]!;
        const g6 = outcome[i + 6 * size]!;
        const g7 = outcome[i + 7 * size]!;
        for (let from = 0; from < bins; from++) {
          const p = from * MOST_BINS;
          const sum =
            transitions[p]! * g0 +
            transitions[p + 1]! * g1 +
            transitions[p + 2]! * g2 +
            transitions[p + 3]! * g3 +
            transitions[p + 4]! * g4 +
            transitions[p + 5]! * g5 +
            transitions[p + 6]! * g6 +
            transitions[p + 7]! * g7;
          later[from * size + i] = watchShare * (sum - outage);
        }
      }
    }
    for (let from = 0; from < bins; from++) {
      // A switch in steps costs the same, so neighbours suffice: up, then down.
      const cost = (r: number, other: number) => watchShare * changeCost(costs, qualities[r]!, qualities[other]!);
      for (let r = 1; r < count; r++) this._raise(from, r, r - 1, cost(r, r - 1), end);
      for (let r = count - 2; r >= 0; r--) this._raise(from, r, r + 1, cost(r, r + 1), end);
    }
  }

  /** Raises the value after `r` to another choice's value less the cost of the switch, if that is higher. */
  private _raise(rank: number, r: number, other: number, cost: number, end: number): void {
    const later = this._later;
    const to = (rank * this._count + r) * POINTS;
    const from = (rank * this._count + other) * POINTS;
    for (let n = this._first; n < end; n++) {
      const value = later[from + n]! - cost;
      if (value > later[to + n]!) later[to + n] = value;
    }
  }
}
