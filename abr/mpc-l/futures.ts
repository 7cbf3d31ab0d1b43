/**
 * Futures: capacity paths drawn from a forecast, and its marginal capacities by rank.
 *
 * Paths are drawn with a Gaussian copula: one normal score per step, correlated from step to step by the forecast's
 * rank correlation. The scores come from a fixed, stratified table (Latin hypercube), so that the same forecast gives
 * the same futures and neighbouring forecasts give neighbouring futures.
 */

import type { QuantileForecast } from '../forecast.ts';
import { normalCdf, normalQuantile } from './normal-distribution.ts';

/** Capacity below which a link counts as dead, relative to nothing: keeps logarithms and divisions finite. */
const FLOOR_BPS = 1e3;

/** Standard normal innovations `[step * count + future]`, stratified over the futures of each step. */
function stratifiedScores(count: number, steps: number, seed: number): Float64Array {
  let state = seed >>> 0 || 1;
  const random = () => {
    // xorshift32
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  const table = new Float64Array(count * steps);
  for (let step = 0; step < steps; step++) {
    const order = Array.from({ length: count }, (_, i) => i);
    if (step > 0) {
      for (let i = count - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1));
        [order[i], order[j]] = [order[j]!, order[i]!];
      }
    }
    for (let i = 0; i < count; i++) table[step * count + i] = normalQuantile((order[i]! + 0.5) / count);
  }
  return table;
}

/** Log-capacity at a normal score, linear in the score between the forecast's levels and beyond them. */
class Marginals {
  private scores = new Float64Array(0);
  private logs = new Float64Array(0);
  private levelCount = 0;
  private stepEnds: readonly number[] = [];

  read(forecast: QuantileForecast): void {
    const { levels, quantilesBps } = forecast;
    this.levelCount = levels.length;
    this.stepEnds = forecast.stepEndsSeconds;
    const size = levels.length * quantilesBps.length;
    if (this.logs.length < size) this.logs = new Float64Array(size);
    if (this.scores.length < levels.length) this.scores = new Float64Array(levels.length);
    for (let i = 0; i < levels.length; i++) this.scores[i] = normalQuantile(levels[i]!);
    for (let s = 0; s < quantilesBps.length; s++) {
      let highest = Math.log(FLOOR_BPS);
      for (let i = 0; i < levels.length; i++) {
        // Crossing quantiles are put right here rather than trusted.
        highest = Math.max(highest, Math.log(Math.max(FLOOR_BPS, quantilesBps[s]![i]!)));
        this.logs[s * levels.length + i] = highest;
      }
    }
  }

  get steps(): number {
    return this.stepEnds.length;
  }

  stepEnd(step: number): number {
    return this.stepEnds[step]!;
  }

  rateBps(step: number, score: number): number {
    const n = this.levelCount;
    const at = step * n;
    if (n === 1) return Math.exp(this.logs[at]!);
    let i = 1;
    while (i < n - 1 && score > this.scores[i]!) i++;
    const low = this.scores[i - 1]!;
    const slope = (this.logs[at + i]! - this.logs[at + i - 1]!) / (this.scores[i]! - low);
    return Math.max(FLOOR_BPS, Math.exp(this.logs[at + i - 1]! + slope * (score - low)));
  }
}

/** Where on the forecast's steps a second lies; the last step goes on for ever. */
function stepAt(marginals: Marginals, seconds: number): number {
  let step = 0;
  while (step < marginals.steps - 1 && seconds >= marginals.stepEnd(step)) step++;
  return step;
}

/** A set of equally likely futures, kept in flat arrays that are overwritten by each `read`. */
export class Futures {
  readonly count: number;
  readonly bins: number;
  private readonly scoreTable: Float64Array;
  private readonly marginals = new Marginals();
  private rates = new Float64Array(0);
  private binOf = new Uint8Array(0);
  private ageSeconds = 0;
  private steps = 0;

  constructor(options: { count: number; bins: number; maxSteps: number; seed: number }) {
    this.count = options.count;
    this.bins = options.bins;
    this.scoreTable = stratifiedScores(options.count, options.maxSteps, options.seed);
  }

  /** Draws the futures of a forecast that was issued `ageSeconds` ago. */
  read(forecast: QuantileForecast, ageSeconds: number): void {
    const { count, marginals } = this;
    marginals.read(forecast);
    this.steps = Math.min(marginals.steps, this.scoreTable.length / count);
    this.ageSeconds = ageSeconds;
    const size = count * this.steps;
    if (this.rates.length < size) {
      this.rates = new Float64Array(size);
      this.binOf = new Uint8Array(size);
    }
    const correlation = forecast.rankCorrelation;
    const spread = Math.sqrt(1 - correlation * correlation);
    for (let f = 0; f < count; f++) {
      let score = 0;
      for (let s = 0; s < this.steps; s++) {
        const fresh = this.scoreTable[s * count + f]!;
        score = s === 0 ? fresh : correlation * score + spread * fresh;
        this.rates[f * this.steps + s] = marginals.rateBps(s, score);
        this.binOf[f * this.steps + s] = Math.min(this.bins - 1, Math.floor(normalCdf(score) * this.bins));
      }
    }
  }

  /** Seconds that `bits` take in one future from `startSeconds` after now; no request latency. */
  transferSeconds(future: number, startSeconds: number, bits: number): number {
    const { steps, marginals } = this;
    let at = this.ageSeconds + startSeconds;
    const begin = at;
    let left = bits;
    let s = stepAt(marginals, at);
    for (; s < steps - 1; s++) {
      const rate = this.rates[future * steps + s]!;
      const end = marginals.stepEnd(s);
      const possible = rate * (end - at);
      if (possible >= left) return at + left / rate - begin;
      left -= possible;
      at = end;
    }
    return at + left / this.rates[future * steps + steps - 1]! - begin;
  }

  /** Rank bin of a future at `seconds` from now. */
  binAt(future: number, seconds: number): number {
    const s = Math.min(this.steps - 1, stepAt(this.marginals, this.ageSeconds + seconds));
    return this.binOf[future * this.steps + s]!;
  }

  /** Capacity by rank bin at `seconds` from now, into `into`. */
  marginalRates(seconds: number, scores: Float64Array, into: Float64Array): void {
    const s = stepAt(this.marginals, this.ageSeconds + seconds);
    for (let i = 0; i < scores.length; i++) into[i] = this.marginals.rateBps(s, scores[i]!);
  }

  /** Steps crossed from one second to another, at least one. */
  stepsBetween(fromSeconds: number, toSeconds: number): number {
    const from = stepAt(this.marginals, this.ageSeconds + fromSeconds);
    const to = stepAt(this.marginals, this.ageSeconds + toSeconds);
    return Math.max(1, to - from);
  }
}
