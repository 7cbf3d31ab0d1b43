/**
 * Futures: capacity paths drawn from a forecast, and its capacity per rank.
 *
 * From quantiles, paths are drawn with a Gaussian copula: one normal score per step, correlated from step to step by
 * the forecast's rank correlation. The scores come from a fixed table, so that equal forecasts give equal futures and
 * similar forecasts give similar futures. The table makes a few futures stand for the whole distribution: in every step
 * each future holds an equal share of the probability, and innovations are uncorrelated with those of earlier steps.
 * A forecast of paths is sampled at fixed times instead.
 */

import type { Forecast, PathForecast, QuantileForecast } from '../forecast.ts';
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
/** Ends of the steps on which given paths are sampled, in seconds: finest where the next download is. */
const PATH_STEP_ENDS = [0.5, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 60];

/** A set of equally likely futures in flat arrays, which each `draw` overwrites; rows are `MAX_STEPS` long. */
export class Futures {
  /** Number of steps, their ends, and the seconds since their second 0. */
  #steps = 0;
  readonly #stepEnds = new Float64Array(MAX_STEPS);
  #ageSeconds = 0;
  #floorBps = FLOOR_BPS;
  /** Correlation of ranks from one step to the next. */
  #correlation = 0;
  /**
   * `[future][step]`: bit/s, computed for the first `#ratedSteps` steps, as many as were asked for; and the bin of its
   * rank among the futures (`drawnBins` or `pathBins`).
   */
  readonly #rates: Float64Array;
  #ratedSteps = 0;
  #binOf: Uint8Array;
  readonly #marginal: Float64Array;
  #hasMarginal = false;

  /** `[step][future]`: innovations of the futures that are drawn from quantiles; step 0 ascends. */
  readonly #innovations: Float64Array;
  /** `[future][step]`: the scores that follow from `drawnCorrelation`, and their bins. */
  readonly #scores: Float64Array;
  readonly #drawnBins: Uint8Array;
  #drawnCorrelation = Number.NaN;
  readonly #rankScores: Float64Array;
  /** `[level]`: its normal score. `[step][level]`: ln of its quantile, and the slope of ln over the score below it. */
  #levelScores = new Float64Array(0);
  #logs = new Float64Array(0);
  #slopes = new Float64Array(0);

  readonly #pathBins: Uint8Array;
  /** Per future: the bits of its path before the current step. */
  readonly #bitsBefore: Float64Array;
  /** Per future: the score or rate that ranks it in the current step; futures in that order. */
  readonly #carried: Float64Array;
  readonly #order: Uint16Array;

  constructor(
    readonly count: number,
    readonly bins: number,
    seed: number,
  ) {
    this.#rates = new Float64Array(count * MAX_STEPS);
    this.#marginal = new Float64Array(MAX_STEPS * bins);
    this.#innovations = drawInnovations(count, seed);
    this.#scores = new Float64Array(count * MAX_STEPS);
    this.#drawnBins = new Uint8Array(count * MAX_STEPS);
    this.#rankScores = binScores(bins);
    this.#pathBins = new Uint8Array(count * MAX_STEPS);
    this.#bitsBefore = new Float64Array(count);
    this.#carried = new Float64Array(count);
    this.#order = new Uint16Array(count);
    this.#binOf = this.#drawnBins;
  }

  /** Draws the futures of a forecast that is `ageSeconds` old. They replace the ones drawn before. */
  draw(forecast: Forecast, ageSeconds: number): void {
    this.#ageSeconds = Math.max(0, ageSeconds);
    if (forecast.kind === 'paths') this.#readPaths(forecast);
    else this.#readQuantiles(forecast);
  }

  /** Capacity of each rank bin, `[step * bins + bin]` in bit/s; the next `draw` overwrites it. */
  get marginal(): Float64Array {
    const { bins } = this;
    if (!this.#hasMarginal) {
      for (let i = 0; i < this.#steps * bins; i++) {
        this.#marginal[i] = this.#rateAt(Math.floor(i / bins), this.#rankScores[i % bins]!);
      }
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
      if (step >= this.#ratedSteps) this.#rate(step);
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
    if (step >= this.#ratedSteps) this.#rate(step);
    return this.#rates[future * MAX_STEPS + step]!;
  }

  /** Rank bin of a future at `seconds` from now. */
  binAt(future: number, seconds: number): number {
    return this.#binOf[future * MAX_STEPS + this.#stepAt(this.#ageSeconds + seconds)]!;
  }

  /** End of each step in seconds from now; the last step goes on. */
  stepEndsSeconds(): number[] {
    const ends: number[] = [];
    for (let step = 0; step < this.#steps; step++) ends.push(this.#stepEnds[step]! - this.#ageSeconds);
    return ends;
  }

  /** Capacity of each rank bin in the last step, bit/s. */
  lastMarginal(): Float64Array {
    return this.marginal.slice((this.#steps - 1) * this.bins, this.#steps * this.bins);
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

  #readSteps(stepEndsSeconds: readonly number[]): void {
    this.#steps = Math.min(MAX_STEPS, stepEndsSeconds.length);
    for (let step = 0; step < this.#steps; step++) this.#stepEnds[step] = stepEndsSeconds[step]!;
  }

  #readQuantiles(forecast: QuantileForecast): void {
    this.#readSteps(forecast.stepEndsSeconds);
    this.#correlation = Math.min(MAX_CORRELATION, Math.max(0, forecast.rankCorrelation));
    this.#drawScores();
    this.#readLevels(forecast);
    this.#ratedSteps = 0;
    this.#hasMarginal = false;
    this.#binOf = this.#drawnBins;
  }

  /** Computes the rates up to `step`. */
  #rate(step: number): void {
    for (; this.#ratedSteps <= step; this.#ratedSteps++) {
      for (let at = this.#ratedSteps; at < this.#rates.length; at += MAX_STEPS) {
        this.#rates[at] = this.#rateAt(this.#ratedSteps, this.#scores[at]!);
      }
    }
  }

  /** Computes the scores of all steps if the correlation has changed, which is rare. */
  #drawScores(): void {
    const { count, bins } = this;
    const correlation = this.#correlation;
    const innovations = this.#innovations;
    const scores = this.#scores;
    const carried = this.#carried;
    const order = this.#order;
    if (correlation === this.#drawnCorrelation) return;
    this.#drawnCorrelation = correlation;
    const spread = Math.sqrt(1 - correlation ** 2);
    for (let future = 0; future < count; future++) order[future] = future;
    for (let step = 0; step < MAX_STEPS; step++) {
      for (let future = 0; future < count; future++) {
        const fresh = innovations[step * count + future]!;
        carried[future] = step === 0 ? fresh : correlation * carried[future]! + spread * fresh;
      }
      sortBy(order, carried);
      for (let rank = 0; rank < count; rank++) {
        const at = order[rank]! * MAX_STEPS + step;
        // Step 0 of the innovations has the scores in ascending order.
        scores[at] = innovations[rank]!;
        this.#drawnBins[at] = Math.floor(((rank + 0.5) / count) * bins);
      }
    }
  }

  #readLevels({ levels, quantilesBps }: QuantileForecast): void {
    const n = levels.length;
    if (n !== this.#levelScores.length) {
      this.#levelScores = new Float64Array(n);
      this.#logs = new Float64Array(MAX_STEPS * n);
      this.#slopes = new Float64Array(MAX_STEPS * n);
    }
    const levelScores = this.#levelScores;
    const logs = this.#logs;
    const slopes = this.#slopes;
    for (let i = 0; i < n; i++) levelScores[i] = normalQuantile(levels[i]!);
    let highestBps = 0;
    for (let step = 0; step < this.#steps; step++) {
      for (let i = 0; i < n; i++) highestBps = Math.max(highestBps, quantilesBps[step]![i]!);
    }
    this.#floorBps = Math.max(FLOOR_BPS, FLOOR_SHARE * highestBps);
    for (let step = 0; step < this.#steps; step++) {
      const row = quantilesBps[step]!;
      const at = step * n;
      let highest = this.#floorBps;
      for (let i = 0; i < n; i++) {
        // Repairs quantiles that cross.
        highest = Math.max(highest, row[i]!);
        logs[at + i] = Math.log(highest);
        if (i === 0) continue;
        const width = levelScores[i]! - levelScores[i - 1]!;
        slopes[at + i] = width > 0 ? (logs[at + i]! - logs[at + i - 1]!) / width : 0;
      }
    }
  }

  /** Capacity at a normal score: ln capacity is linear in the score between the quantile levels and beyond them. */
  #rateAt(step: number, score: number): number {
    const levelScores = this.#levelScores;
    const logs = this.#logs;
    const levelCount = levelScores.length;
    const at = step * levelCount;
    if (levelCount === 1) return Math.min(GREATEST_BPS, Math.exp(logs[at]!));
    let i = 1;
    while (i < levelCount - 1 && score > levelScores[i]!) i++;
    const log = logs[at + i - 1]! + this.#slopes[at + i]! * (score - levelScores[i - 1]!);
    return Math.min(GREATEST_BPS, Math.max(this.#floorBps, Math.exp(log)));
  }

  #readPaths({ paths }: PathForecast): void {
    const { count, bins } = this;
    const rates = this.#rates;
    const bitsBefore = this.#bitsBefore;
    const carried = this.#carried;
    const order = this.#order;
    const ageSeconds = this.#ageSeconds;
    this.#readSteps(PATH_STEP_ENDS);
    this.#correlation = MAX_CORRELATION;
    const pathOf = resampled(paths, count);
    for (let future = 0; future < count; future++) {
      bitsBefore[future] = paths[pathOf[future]!]!.path.cumulativeBits(ageSeconds);
      order[future] = future;
    }
    const lastEnd = PATH_STEP_ENDS[this.#steps - 1]!;
    let highestBps = 0;
    for (let i = 0; i < paths.length; i++) {
      const { path: given } = paths[i]!;
      const bits = given.cumulativeBits(ageSeconds + lastEnd) - given.cumulativeBits(ageSeconds);
      highestBps = Math.max(highestBps, bits / lastEnd);
    }
    this.#floorBps = Math.max(FLOOR_BPS, FLOOR_SHARE * highestBps);
    let start = 0;
    for (let step = 0; step < this.#steps; step++) {
      const end = PATH_STEP_ENDS[step]!;
      let bits = 0;
      for (let future = 0; future < count; future++) {
        // Futures of one path are neighbours.
        if (future === 0 || pathOf[future] !== pathOf[future - 1]) {
          bits = paths[pathOf[future]!]!.path.cumulativeBits(ageSeconds + end);
        }
        carried[future] = Math.max(this.#floorBps, (bits - bitsBefore[future]!) / (end - start));
        rates[future * MAX_STEPS + step] = carried[future]!;
        bitsBefore[future] = bits;
      }
      sortBy(order, carried);
      for (let rank = 0; rank < count; rank++) {
        this.#pathBins[order[rank]! * MAX_STEPS + step] = Math.floor((rank * bins) / count);
      }
      for (let bin = 0; bin < bins; bin++) {
        this.#marginal[step * bins + bin] = carried[order[Math.floor(((bin + 0.5) * count) / bins)]!]!;
      }
      start = end;
    }
    // The paths were sampled from now on.
    this.#ageSeconds = 0;
    this.#ratedSteps = this.#steps;
    this.#hasMarginal = true;
    this.#binOf = this.#pathBins;
  }
}

/**
 * Systematic resampling, as the index of a path per future: future i stands for the path that holds the
 * (i + 0.5) / count share of the weight.
 */
export function resampled(paths: PathForecast['paths'], count: number): Uint16Array {
  let path = 0;
  let until = paths[0]!.weight;
  return Uint16Array.from({ length: count }, (_, future) => {
    while (path < paths.length - 1 && until <= (future + 0.5) / count) until += paths[++path]!.weight;
    return path;
  });
}

/** Sorts futures by ascending value, by insertion, because the previous step's order is nearly right. */
function sortBy(order: Uint16Array, values: Float64Array): void {
  for (let i = 1; i < order.length; i++) {
    const future = order[i]!;
    const value = values[future]!;
    let place = i;
    for (; place > 0 && values[order[place - 1]!]! > value; place--) order[place] = order[place - 1]!;
    order[place] = future;
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
  const shuffled = Float64Array.from({ length: count }, (_, i) => normalQuantile((i + 0.5) / count));
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
