/** A forecast as steps from now on: their capacity at any normal score, and the correlation of ranks between them. */

import type { QuantileForecast } from '../forecast.ts';
import { normalQuantile } from '../statistics/normal-distribution.ts';

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
