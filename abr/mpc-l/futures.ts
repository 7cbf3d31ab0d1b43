/**
 * Futures: capacity paths drawn from a forecast, and its capacity per rank.
 *
 * From quantiles, paths are drawn with a Gaussian copula: one normal score per step, correlated from step to step by
 * the forecast's rank correlation. The scores come from a fixed table, so that equal forecasts give equal futures and
 * similar forecasts give similar futures. The table makes a few futures stand for the whole distribution: in every step
 * each future holds an equal share of the probability, and innovations are uncorrelated with those of earlier steps.
 */

import type { QuantileForecast } from '../forecast.ts';
import { normalQuantile } from '../normal-distribution.ts';
import { minimalStandard } from '../random.ts';
import { binScores } from './rank-chain.ts';

/**
 * Least capacity, which stands for a dead link and keeps logarithms and divisions finite: a share of the highest in the
 * forecast, because links differ in scale, but at least 1 bit/s.
 */
const FLOOR_SHARE = 1e-5;
const FLOOR_BPS = 1;
/** Keeps the extrapolation of an absurd forecast finite. */
const GREATEST_BPS = 1e300;
/** Steps of a forecast that are used; the last one goes on. */
export const MAX_STEPS = 16;
/** Kept below 1, so that the rank chain mixes. */
const MAX_CORRELATION = 0.99;

/**
 * A set of equally likely futures in flat arrays, which each `draw` overwrites; rows are `MAX_STEPS` long. Ranks depend on
 * the correlation alone, and capacities are computed when they are first asked for.
 */
export class Futures {
  /** The plan's transitions of ranks, by their correlation in hundredths, once it has computed them. */
  readonly transitions: Float64Array[] = [];
  /** The forecast that the futures are of; its least capacity, and the normal score of each of its levels. */
  #forecast: QuantileForecast | undefined;
  #floorBps = 0;
  #levelScores: readonly number[] = [];
  /** Number of steps, their ends, and the seconds since their second 0. */
  #steps = 0;
  readonly #stepEnds = new Float64Array(MAX_STEPS);
  #ageSeconds = 0;
  /** Correlation of ranks from one step to the next. */
  #correlation = Number.NaN;
  /** `[future][step]`: bit/s, in the first `#drawnSteps`, and its rank among the futures. */
  readonly #rates: Float64Array;
  #drawnSteps = 0;
  readonly #ranks: Uint8Array;
  /** `[step * bins + bin]`: as `marginal`, once it has been asked for. */
  readonly #marginal: Float64Array;
  #hasMarginal = false;
  /** `[step][future]`: innovations of the futures that are drawn from quantiles; step 0 ascends. */
  readonly #innovations: Float64Array;
  readonly #binScores: Float64Array;

  constructor(
    readonly count: number,
    readonly bins: number,
    seed: number,
  ) {
    this.#marginal = new Float64Array(MAX_STEPS * bins);
    this.#rates = new Float64Array(count * MAX_STEPS);
    this.#ranks = new Uint8Array(count * MAX_STEPS);
    this.#innovations = drawInnovations(count, seed);
    this.#binScores = binScores(bins);
  }

  /**
   * Draws the futures of a forecast that is `ageSeconds` old. They replace the ones drawn before. Returns false if those
   * were of the same forecast.
   */
  draw(forecast: QuantileForecast, ageSeconds: number): boolean {
    this.#ageSeconds = Math.max(0, ageSeconds);
    if (forecast === this.#forecast) return false;
    this.#forecast = forecast;
    this.#drawnSteps = 0;
    this.#hasMarginal = false;
    const { stepEndsSeconds, levels, quantilesBps, rankCorrelation } = forecast;
    this.#steps = Math.min(MAX_STEPS, stepEndsSeconds.length);
    let highest = 0;
    for (let step = 0; step < this.#steps; step++) {
      this.#stepEnds[step] = stepEndsSeconds[step]!;
      highest = Math.max(highest, quantilesBps[step]![levels.length - 1]!);
    }
    this.#floorBps = Math.max(FLOOR_BPS, FLOOR_SHARE * highest);
    this.#levelScores = levels.map(normalQuantile);
    const correlation = Math.min(MAX_CORRELATION, rankCorrelation);
    if (correlation !== this.#correlation) this.#rank(correlation);
    return true;
  }

  /** `[step * bins + bin]` in bit/s: capacity of each rank bin. */
  get marginal(): Float64Array {
    for (let step = 0; step < this.#steps && !this.#hasMarginal; step++) {
      this.#marginal.set(this.#capacitiesBps(step, this.#binScores), step * this.bins);
    }
    this.#hasMarginal = true;
    return this.#marginal;
  }

  /** Seconds that `bits` take in one future if they start `startSeconds` from now; without request latency. */
  transferSeconds(future: number, startSeconds: number, bits: number): number {
    const stepEnds = this.#stepEnds;
    const rates = this.#rates;
    const last = this.#steps - 1;
    const begin = this.#ageSeconds + startSeconds;
    const row = future * MAX_STEPS;
    let at = begin;
    let left = bits;
    for (let step = this.#stepAt(begin); step < last; step++) {
      if (step >= this.#drawnSteps) this.#drawTo(step);
      const rate = rates[row + step]!;
      const end = stepEnds[step]!;
      const possible = rate * (end - at);
      if (possible >= left) return at + left / rate - begin;
      left -= possible;
      at = end;
    }
    return at + left / this.stepBps(future, last) - begin;
  }

  /** Capacity of a future in a step of the forecast, in bit/s. */
  stepBps(future: number, step: number): number {
    if (step >= this.#drawnSteps) this.#drawTo(step);
    return this.#rates[future * MAX_STEPS + step]!;
  }

  /** Rank bin of a future at `seconds` from now. */
  binAt(future: number, seconds: number): number {
    const rank = this.#ranks[future * MAX_STEPS + this.#stepAt(this.#ageSeconds + seconds)]!;
    return Math.floor(((rank + 0.5) / this.count) * this.bins);
  }

  /** End of each step in seconds from now; the last step goes on. */
  stepEndsSeconds(): number[] {
    return Array.from(this.#stepEnds.subarray(0, this.#steps), (end) => end - this.#ageSeconds);
  }

  /** Correlation of ranks between two moments, in seconds from now. */
  correlationBetween(fromSeconds: number, toSeconds: number): number {
    const from = this.#stepAt(this.#ageSeconds + fromSeconds);
    const to = this.#stepAt(this.#ageSeconds + toSeconds);
    return this.#correlation ** Math.max(1, to - from);
  }

  #stepAt(seconds: number): number {
    const stepEnds = this.#stepEnds;
    const last = this.#steps - 1;
    let step = 0;
    while (step < last && seconds >= stepEnds[step]!) step++;
    return step;
  }

  /** Orders the futures of every step by their scores. */
  #rank(correlation: number): void {
    this.#correlation = correlation;
    const { count } = this;
    const innovations = this.#innovations;
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
      for (let rank = 0; rank < count; rank++) this.#ranks[order[rank]! * MAX_STEPS + step] = rank;
    }
  }

  /** Computes the rates of the steps up to `last`. */
  #drawTo(last: number): void {
    const { count } = this;
    while (this.#drawnSteps <= last) {
      const step = this.#drawnSteps++;
      // Step 0 of the innovations has the scores in ascending order.
      const byRank = this.#capacitiesBps(step, this.#innovations.subarray(0, count));
      for (let at = step; at < count * MAX_STEPS; at += MAX_STEPS) this.#rates[at] = byRank[this.#ranks[at]!]!;
    }
  }

  /**
   * The capacity of a step at ascending normal scores: its logarithm is linear in the score between the quantile levels,
   * and goes on so beyond them.
   */
  #capacitiesBps(step: number, scores: Float64Array): Float64Array {
    const row = this.#forecast!.quantilesBps[step]!;
    const levels = this.#levelScores;
    const floorBps = this.#floorBps;
    const logAt = (level: number) => Math.log(Math.max(floorBps, row[level]!));
    let i = 0;
    let low = logAt(0);
    let high = logAt(1);
    return scores.map((score) => {
      for (; i < levels.length - 2 && score > levels[i + 1]!; high = logAt(i + 1)) {
        low = high;
        i++;
      }
      const slope = levels.length > 1 ? (high - low) / Math.max(1e-9, levels[i + 1]! - levels[i]!) : 0;
      const bps = Math.exp(low + slope * (score - levels[i]!));
      return Math.min(GREATEST_BPS, Math.max(floorBps, bps));
    });
  }
}

/** Most attempts at a shuffle, and the least share of its variance that must be new. */
const SHUFFLES = 32;
const LEAST_NEW_SHARE = 0.1;

/**
 * Standard normal innovations `[step * count + future]`. Step 0 has one per equal share of the probability, ascending.
 * Later steps have the same numbers shuffled, made orthogonal to the steps before.
 */
function drawInnovations(count: number, seed: number): Float64Array {
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
