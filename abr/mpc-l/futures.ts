/**
 * Futures: capacity paths drawn from a forecast with a Gaussian copula. A future has one normal score per step,
 * correlated from step to step by the forecast's rank correlation. The scores come from a fixed table, so that similar
 * forecasts give similar futures. In the table a few futures stand for the whole distribution: in every step each
 * future has an equal share of the probability, and innovations are uncorrelated with earlier steps' innovations.
 */

import type { QuantileForecast } from '../forecast.ts';
import { normalCdf, normalQuantile } from '../statistics/distributions.ts';
import { minimalStandard } from '../statistics/random.ts';

/**
 * Equally likely futures in flat arrays, which each `draw` overwrites; rows are `MAX_STEPS` long. Ranks depend on the
 * correlation alone. Capacities are computed at their first use.
 */
export class Futures {
  /** Steps of the last drawn forecast. */
  steps!: ForecastSteps;
  /** Correlation of `_ranks`. */
  private _correlation = Number.NaN;
  /** `[future][step]`: bit/s in the first `_drawnSteps` steps, and the future's rank. */
  private readonly _rates: Float64Array;
  private _drawnSteps = 0;
  private readonly _ranks: Uint8Array;
  /** `[step][future]`; step 0 ascends. */
  private readonly _innovations: Float64Array;

  constructor(
    readonly count: number,
    seed: number,
  ) {
    this._rates = new Float64Array(count * MAX_STEPS);
    this._ranks = new Uint8Array(count * MAX_STEPS);
    this._innovations = drawInnovations(count, seed);
  }

  /** Draws the futures of a forecast that is `ageSeconds` old. */
  draw(forecast: QuantileForecast, ageSeconds: number): void {
    const isSame = forecast === this.steps?.forecast;
    this.steps = new ForecastSteps(forecast, ageSeconds);
    if (isSame) return;
    this._drawnSteps = 0;
    if (this.steps.correlation !== this._correlation) this._rank(this.steps.correlation);
  }

  /** Seconds, without request latency, that `bits` take in one future if they start `startSeconds` from now. */
  transferSeconds(future: number, startSeconds: number, bits: number): number {
    const { ends: stepEnds, count, ageSeconds } = this.steps;
    const rates = this._rates;
    const last = count - 1;
    const begin = ageSeconds + startSeconds;
    const row = future * MAX_STEPS;
    let at = begin;
    let left = bits;
    for (let step = this.steps.stepAt(startSeconds); step < last; step++) {
      if (step >= this._drawnSteps) this._drawTo(step);
      const rate = rates[row + step]!;
      const end = stepEnds[step]!;
      const possible = rate * (end - at);
      if (possible >= left) return at + left / rate - begin;
      left -= possible;
      at = end;
    }
    return at + left / this.stepBps(future, last) - begin;
  }

  stepBps(future: number, step: number): number {
    if (step >= this._drawnSteps) this._drawTo(step);
    return this._rates[future * MAX_STEPS + step]!;
  }

  /** Rank of a future at `seconds` from now, in `bins` of equal probability. */
  binAt(future: number, seconds: number, bins: number): number {
    const rank = this._ranks[future * MAX_STEPS + this.steps.stepAt(seconds)]!;
    return Math.floor(((rank + 0.5) / this.count) * bins);
  }

  private _rank(correlation: number): void {
    this._correlation = correlation;
    const { count } = this;
    const innovations = this._innovations;
    const spread = Math.sqrt(1 - correlation ** 2);
    const scores = innovations.slice(0, count);
    const order = Uint16Array.from(scores, (_, future) => future);
    for (let step = 0; step < MAX_STEPS; step++) {
      for (let future = 0; future < count && step > 0; future++) {
        scores[future] = correlation * scores[future]! + spread * innovations[step * count + future]!;
      }
      // By insertion, because the previous step's order is nearly right.
      for (let i = 1; i < count; i++) {
        const future = order[i]!;
        const value = scores[future]!;
        let place = i;
        for (; place > 0 && scores[order[place - 1]!]! > value; place--) order[place] = order[place - 1]!;
        order[place] = future;
      }
      for (let rank = 0; rank < count; rank++) this._ranks[order[rank]! * MAX_STEPS + step] = rank;
    }
  }

  private _drawTo(last: number): void {
    const { count } = this;
    while (this._drawnSteps <= last) {
      const step = this._drawnSteps++;
      // Step 0 of the innovations has the ascending scores.
      const byRank = this.steps.capacitiesBps(step, this._innovations.subarray(0, count));
      for (let at = step; at < count * MAX_STEPS; at += MAX_STEPS) this._rates[at] = byRank[this._ranks[at]!]!;
    }
  }
}

/* The capacity of a forecast per rank, and how ranks change, for the plan of later segments. */

/** Largest correlation of ranks, in hundredths; below 1, so that ranks mix. */
const LARGEST_HUNDREDTHS = 99;
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;

/** Computes capacities once per forecast, and transitions once per correlation in hundredths. */
export class CapacityRanks {
  private readonly _capacityBps: Float64Array;
  private _computed: QuantileForecast | undefined;
  private readonly _scores: Float64Array;
  private readonly _transitions: Float64Array[] = [];

  /** The `bins` have equal probability. */
  constructor(
    readonly bins: number,
    private readonly _tail: TailWeight,
  ) {
    this._capacityBps = new Float64Array(MAX_STEPS * bins);
    this._scores = binScores(bins);
  }

  /** `[step * bins + bin]` in bit/s. */
  capacityBps(steps: ForecastSteps): Float64Array {
    for (let step = 0; step < steps.count && steps.forecast !== this._computed; step++) {
      this._capacityBps.set(steps.capacitiesBps(step, this._scores), step * this.bins);
    }
    this._computed = steps.forecast;
    return this._capacityBps;
  }

  /** Transition probabilities at a correlation of ranks, `[from * bins + to]`. */
  transitions(correlation: number): Float64Array {
    const hundredths = Math.min(LARGEST_HUNDREDTHS, Math.round(correlation * 100));
    this._transitions[hundredths] ||= rankTransitions(this.bins, hundredths / 100, this._tail).map((p) =>
      p < NEGLIGIBLE ? 0 : p,
    );
    return this._transitions[hundredths]!;
  }
}

/*
 * A forecast as steps from now on: their capacity at any normal score, and the correlation of ranks between them.
 */

/**
 * Least capacity, which stands for a dead link and keeps logarithms and divisions finite: a share of the forecast's
 * highest capacity, because links differ in scale, and at least 1 bit/s.
 */
const FLOOR_SHARE = 1e-5;
const FLOOR_BPS = 1;
/** Keeps the extrapolation of an absurd forecast finite. */
const GREATEST_BPS = 1e300;
/** Used steps of a forecast. The last step goes on. */
export const MAX_STEPS = 16;
/** Kept below 1, so that the rank chain mixes. */
const MAX_CORRELATION = 0.99;

export class ForecastSteps {
  readonly count: number;
  /** Ends of the steps in seconds since the forecast's issue. */
  readonly ends: Float64Array;
  readonly ageSeconds: number;
  /** Correlation of ranks from one step to the next. */
  readonly correlation: number;
  private readonly _floorBps: number;
  /** The normal score of each quantile level. */
  private readonly _levelScores: readonly number[];

  constructor(
    readonly forecast: QuantileForecast,
    ageSeconds: number,
  ) {
    const { stepEndsSeconds, levels, quantilesBps, rankCorrelation } = forecast;
    this.count = Math.min(MAX_STEPS, stepEndsSeconds.length);
    this.ends = Float64Array.from(stepEndsSeconds.slice(0, this.count));
    this.ageSeconds = Math.max(0, ageSeconds);
    this.correlation = Math.min(MAX_CORRELATION, rankCorrelation);
    const highest = Math.max(...quantilesBps.slice(0, this.count).map((row) => row[levels.length - 1]!));
    this._floorBps = Math.max(FLOOR_BPS, FLOOR_SHARE * highest);
    this._levelScores = levels.map(normalQuantile);
  }

  /** The step at `seconds` from now. */
  stepAt(seconds: number): number {
    const last = this.count - 1;
    let step = 0;
    while (step < last && this.ageSeconds + seconds >= this.ends[step]!) step++;
    return step;
  }

  /** Correlation of ranks between two moments, in seconds from now. */
  correlationBetween(fromSeconds: number, toSeconds: number): number {
    return this.correlation ** Math.max(1, this.stepAt(toSeconds) - this.stepAt(fromSeconds));
  }

  /** End of each step in seconds from now; the last step goes on. */
  endsFromNow(): number[] {
    return Array.from(this.ends, (end) => end - this.ageSeconds);
  }

  /** The capacity of a step at ascending normal scores: its logarithm is linear between, and beyond, the quantile levels. */
  capacitiesBps(step: number, scores: Float64Array): Float64Array {
    const row = this.forecast.quantilesBps[step]!;
    const levels = this._levelScores;
    const floorBps = this._floorBps;
    const capacities = new Float64Array(scores.length);
    let i = -1;
    let low = 0;
    let high = Math.log(Math.max(floorBps, row[0]!));
    let slope = 0;
    for (let at = 0; at < scores.length; at++) {
      while (i < 0 || (i < levels.length - 2 && scores[at]! > levels[i + 1]!)) {
        low = high;
        high = Math.log(Math.max(floorBps, row[++i + 1]!));
        slope = levels.length > 1 ? (high - low) / Math.max(1e-9, levels[i + 1]! - levels[i]!) : 0;
      }
      const bps = Math.exp(low + slope * (scores[at]! - levels[i]!));
      capacities[at] = Math.min(GREATEST_BPS, Math.max(floorBps, bps));
    }
    return capacities;
  }
}

/*
 * The rank chain: how the rank of capacity changes from one segment to the next. A forecast's rank correlation links
 * the ranks of successive times (a Gaussian copula). Ranks in bins of equal probability form a Markov chain, on
 * which a plan with recourse can be computed exactly.
 */

/** Normal score in the middle of each of `bins` bins of equal probability. */
export function binScores(bins: number): Float64Array {
  return Float64Array.from({ length: bins }, (_, i) => normalQuantile((i + 0.5) / bins));
}

/** Extra weight of the worst outcomes. */
export interface TailWeight {
  /** 0: mean only, 1: tail only. */
  weight: number;
  /** Share of the probability in the tail, in (0, 1]. */
  tail: number;
}

/**
 * Transition probabilities `[from * bins + to]` for a rank correlation in [0, 1); rows add up to 1. A tail weight
 * raises the lowest ranks: a row becomes (1 - weight) of itself plus weight of its lowest `tail` share. If an outcome
 * improves with the rank, this is the mixture of its mean and its conditional value at risk.
 */
export function rankTransitions(bins: number, correlation: number, tail: TailWeight): Float64Array {
  const scores = binScores(bins);
  const matrix = new Float64Array(bins * bins);
  const spread = Math.sqrt(1 - correlation * correlation);
  for (let from = 0; from < bins; from++) {
    let below = 0;
    let tailLeft = tail.tail;
    for (let to = 0; to < bins; to++) {
      const upTo =
        to === bins - 1 ? 1 : normalCdf((normalQuantile((to + 1) / bins) - correlation * scores[from]!) / spread);
      const probability = Math.max(0, upTo - below);
      below = upTo;
      const inTail = Math.min(probability, tailLeft);
      tailLeft -= inTail;
      matrix[from * bins + to] = (1 - tail.weight) * probability + (tail.weight * inTail) / tail.tail;
    }
  }
  return matrix;
}

/* The fixed table of random numbers behind the futures. */

/** Attempts at a shuffle, and the share of its variance that must be new. */
const SHUFFLES = 32;
const LEAST_NEW_SHARE = 0.1;

/**
 * Standard normal innovations `[step * count + future]`. Step 0 has an ascending number per equal share of the
 * probability. Later steps have the same numbers shuffled, made orthogonal to the steps before them.
 */
export function drawInnovations(count: number, seed: number): Float64Array {
  const random = minimalStandard(seed);
  const table = new Float64Array(count * MAX_STEPS);
  const shuffled = binScores(count);
  table.set(shuffled);
  const length = dot(shuffled, shuffled);
  for (let step = 1; step < MAX_STEPS; step++) {
    const column = table.subarray(step * count, (step + 1) * count);
    // A few futures cannot be uncorrelated with many earlier steps.
    const first = Math.max(0, step - (count >> 1));
    let left = 0;
    for (let attempt = 0; attempt < SHUFFLES && left < LEAST_NEW_SHARE * length; attempt++) {
      shuffle(shuffled, random);
      column.set(shuffled);
      for (let before = first; before < step; before++) {
        const other = table.subarray(before * count, (before + 1) * count);
        const common = dot(column, other) / length;
        for (let i = 0; i < count; i++) column[i] = column[i]! - common * other[i]!;
      }
      left = dot(column, column);
    }
    const scale = Math.sqrt(length / left);
    for (let i = 0; i < count; i++) column[i] = column[i]! * scale;
  }
  return table;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function shuffle(values: Float64Array, random: () => number): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const value = values[i]!;
    values[i] = values[j]!;
    values[j] = value;
  }
}
