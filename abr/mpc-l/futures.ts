/**
 * Futures: capacity paths drawn from a forecast, and its marginal capacities by rank.
 *
 * From quantiles, paths are drawn with a Gaussian copula: one normal score per step, correlated from step to step by
 * the forecast's rank correlation. The scores come from a fixed, stratified table (Latin hypercube), so that the same
 * forecast gives the same futures and neighbouring forecasts give neighbouring futures. Paths that a forecaster gives
 * directly are sampled on steps of their own.
 */

import type { Forecast, PathForecast, QuantileForecast } from '../forecast.ts';
import { normalCdf, normalQuantile } from './normal-distribution.ts';
import { binScores } from './rank-chain.ts';

/** Capacity that counts as a dead link: keeps logarithms and divisions finite. */
const FLOOR_BPS = 1e3;
/** Steps of a forecast that are read; what comes after is like the last of them. */
const MAX_STEPS = 16;
/** Steps that given paths are sampled on, in seconds. */
const PATH_STEP_ENDS = [0.5, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 60];

/** A set of equally likely futures, kept in flat arrays that each `read` overwrites. */
export class Futures {
  private readonly scores: Float64Array;
  private readonly rankScores: Float64Array;
  private readonly levelScores: number[] = [];
  private levelsRead: readonly number[] = [];
  private stepEnds: readonly number[] = [];
  private steps = 0;
  private ageSeconds = 0;
  private logs = new Float64Array(0);
  /** `[future * steps + step]`. */
  private readonly rates: Float64Array;
  private readonly binOf: Uint8Array;
  /** `[step * bins + bin]`. */
  private readonly marginal: Float64Array;
  /** Correlation of ranks from one step to the next. */
  private correlation = 0;

  constructor(
    readonly count: number,
    readonly bins: number,
    seed: number,
  ) {
    this.scores = stratifiedScores(count, seed);
    this.rankScores = binScores(bins);
    this.rates = new Float64Array(count * MAX_STEPS);
    this.binOf = new Uint8Array(count * MAX_STEPS);
    this.marginal = new Float64Array(MAX_STEPS * bins);
  }

  /** Draws the futures of a forecast as they are `ageSeconds` after it was issued. */
  read(forecast: Forecast, ageSeconds: number): void {
    this.ageSeconds = Math.max(0, ageSeconds);
    if (forecast.kind === 'paths') this.readPaths(forecast);
    else this.readQuantiles(forecast);
  }

  /** Seconds that `bits` take in one future from `startSeconds` after now; no request latency. */
  transferSeconds(future: number, startSeconds: number, bits: number): number {
    const { stepEnds, rates } = this;
    const last = this.steps - 1;
    const begin = this.ageSeconds + startSeconds;
    const row = future * this.steps;
    let at = begin;
    let left = bits;
    for (let step = this.stepAt(begin); step < last; step++) {
      const rate = rates[row + step]!;
      const end = stepEnds[step]!;
      const possible = rate * (end - at);
      if (possible >= left) return at + left / rate - begin;
      left -= possible;
      at = end;
    }
    return at + left / rates[row + last]! - begin;
  }

  /** Rank bin of a future at `seconds` from now. */
  binAt(future: number, seconds: number): number {
    return this.binOf[future * this.steps + this.stepAt(this.ageSeconds + seconds)]!;
  }

  /** Writes the capacity of each rank bin at `seconds` from now. */
  marginalRates(seconds: number, into: Float64Array): void {
    const from = this.stepAt(this.ageSeconds + seconds) * this.bins;
    for (let bin = 0; bin < this.bins; bin++) into[bin] = this.marginal[from + bin]!;
  }

  /** Correlation of ranks between two moments, in seconds from now. */
  correlationBetween(fromSeconds: number, toSeconds: number): number {
    const from = this.stepAt(this.ageSeconds + fromSeconds);
    const to = this.stepAt(this.ageSeconds + toSeconds);
    return this.correlation ** Math.max(1, to - from);
  }

  private stepAt(seconds: number): number {
    const { stepEnds } = this;
    const last = this.steps - 1;
    let step = 0;
    while (step < last && seconds >= stepEnds[step]!) step++;
    return step;
  }

  private readQuantiles(forecast: QuantileForecast): void {
    const { count, bins } = this;
    const { levels, quantilesBps } = forecast;
    this.stepEnds = forecast.stepEndsSeconds;
    this.steps = Math.min(MAX_STEPS, quantilesBps.length);
    this.correlation = Math.min(0.99, Math.max(0, forecast.rankCorrelation));
    this.readLevels(levels);
    if (this.logs.length < this.steps * levels.length) this.logs = new Float64Array(MAX_STEPS * levels.length);
    for (let step = 0; step < this.steps; step++) {
      let highest = Math.log(FLOOR_BPS);
      for (let i = 0; i < levels.length; i++) {
        // Crossing quantiles are put right rather than trusted.
        highest = Math.max(highest, Math.log(Math.max(FLOOR_BPS, quantilesBps[step]![i]!)));
        this.logs[step * levels.length + i] = highest;
      }
      for (let bin = 0; bin < bins; bin++) {
        this.marginal[step * bins + bin] = this.rateAt(step, this.rankScores[bin]!);
      }
    }
    const spread = Math.sqrt(1 - this.correlation ** 2);
    for (let future = 0; future < count; future++) {
      let score = 0;
      for (let step = 0; step < this.steps; step++) {
        const fresh = this.scores[step * count + future]!;
        score = step === 0 ? fresh : this.correlation * score + spread * fresh;
        const at = future * this.steps + step;
        this.rates[at] = this.rateAt(step, score);
        this.binOf[at] = Math.min(bins - 1, Math.floor(normalCdf(score) * bins));
      }
    }
  }

  private readLevels(levels: readonly number[]): void {
    if (levels === this.levelsRead) return;
    this.levelsRead = levels;
    this.levelScores.length = 0;
    for (const level of levels) this.levelScores.push(normalQuantile(level));
  }

  /** Capacity at a normal score: its logarithm is linear in the score between the forecast's levels and beyond them. */
  private rateAt(step: number, score: number): number {
    const { levelScores, logs } = this;
    const n = levelScores.length;
    const at = step * n;
    if (n === 1) return Math.exp(logs[at]!);
    let i = 1;
    while (i < n - 1 && score > levelScores[i]!) i++;
    const low = levelScores[i - 1]!;
    const slope = (logs[at + i]! - logs[at + i - 1]!) / (levelScores[i]! - low);
    return Math.max(FLOOR_BPS, Math.exp(logs[at + i - 1]! + slope * (score - low)));
  }

  private readPaths({ paths }: PathForecast): void {
    const { count, bins } = this;
    this.stepEnds = PATH_STEP_ENDS;
    this.steps = PATH_STEP_ENDS.length;
    this.correlation = 0.99;
    const order = Array.from({ length: count }, (_, future) => future);
    // Systematic resampling: future i stands for the path that holds the (i + 0.5)/count share of the weight.
    const pathOf: number[] = [];
    let path = 0;
    let until = paths[0]!.weight;
    for (let future = 0; future < count; future++) {
      while (path < paths.length - 1 && until <= (future + 0.5) / count) until += paths[++path]!.weight;
      pathOf.push(path);
    }
    const before = new Float64Array(count);
    let start = 0;
    for (let step = 0; step < this.steps; step++) {
      const end = PATH_STEP_ENDS[step]!;
      for (let future = 0; future < count; future++) {
        const bits = paths[pathOf[future]!]!.path.cumulativeBits(this.ageSeconds + end);
        if (step === 0) before[future] = paths[pathOf[future]!]!.path.cumulativeBits(this.ageSeconds);
        this.rates[future * this.steps + step] = Math.max(FLOOR_BPS, (bits - before[future]!) / (end - start));
        before[future] = bits;
      }
      const rateOf = (future: number) => this.rates[future * this.steps + step]!;
      order.sort((a, b) => rateOf(a) - rateOf(b));
      for (let rank = 0; rank < count; rank++) {
        this.binOf[order[rank]! * this.steps + step] = Math.floor((rank * bins) / count);
      }
      for (let bin = 0; bin < bins; bin++) {
        this.marginal[step * bins + bin] = rateOf(order[Math.floor(((bin + 0.5) * count) / bins)]!);
      }
      start = end;
    }
    // The paths were sampled from this moment on.
    this.ageSeconds = 0;
  }
}

/** Standard normal innovations `[step * count + future]`, stratified over the futures of each step. */
function stratifiedScores(count: number, seed: number): Float64Array {
  let state = (seed >>> 0) * 2654435769 + 1;
  const random = () => {
    // Park and Miller's minimal standard generator, on a scrambled seed.
    state = (state % 2147483647) * 48271;
    state %= 2147483647;
    return Math.abs(state) / 2147483647;
  };
  const table = new Float64Array(count * MAX_STEPS);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let step = 0; step < MAX_STEPS; step++) {
    for (let i = count - 1; step > 0 && i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    for (let i = 0; i < count; i++) table[step * count + i] = normalQuantile((order[i]! + 0.5) / count);
  }
  return table;
}
