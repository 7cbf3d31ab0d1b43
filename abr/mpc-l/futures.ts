/**
 * Futures: capacity paths drawn from a forecast with a Gaussian copula. A future has one normal score per step,
 * correlated from step to step by the forecast's rank correlation. The scores come from a fixed table, so that similar
 * forecasts give similar futures. In the table a few futures stand for the whole distribution: in every step each
 * future has an equal share of the probability, and innovations are uncorrelated with earlier steps' innovations.
 */

import type { QuantileForecast } from '../forecast.ts';
import { ForecastSteps, MAX_STEPS } from './forecast-steps.ts';
import { drawInnovations } from './innovations.ts';

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
