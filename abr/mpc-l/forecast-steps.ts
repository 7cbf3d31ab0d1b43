/** A forecast as steps from now: their capacity at any normal score, and how ranks are correlated between them. */

import type { QuantileForecast } from '../forecast.ts';
import { normalQuantile } from '../statistics/normal-distribution.ts';

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

export class ForecastSteps {
  #forecast: QuantileForecast | undefined;
  #floorBps = 0;
  /** The normal score of each quantile level. */
  #levelScores: readonly number[] = [];
  #count = 0;
  #ageSeconds = 0;
  #correlation = Number.NaN;
  /** Ends of the steps since the forecast's second 0; the first `count` hold. */
  readonly ends = new Float64Array(MAX_STEPS);

  /** The forecast that was read last. */
  get forecast(): QuantileForecast | undefined {
    return this.#forecast;
  }

  get count(): number {
    return this.#count;
  }

  get ageSeconds(): number {
    return this.#ageSeconds;
  }

  /** Correlation of ranks from one step to the next. */
  get correlation(): number {
    return this.#correlation;
  }

  /** Reads a forecast that is `ageSeconds` old. Returns false if it is the one that was read last. */
  read(forecast: QuantileForecast, ageSeconds: number): boolean {
    this.#ageSeconds = Math.max(0, ageSeconds);
    if (forecast === this.#forecast) return false;
    this.#forecast = forecast;
    const { stepEndsSeconds, levels, quantilesBps, rankCorrelation } = forecast;
    this.#count = Math.min(MAX_STEPS, stepEndsSeconds.length);
    let highest = 0;
    for (let step = 0; step < this.#count; step++) {
      this.ends[step] = stepEndsSeconds[step]!;
      highest = Math.max(highest, quantilesBps[step]![levels.length - 1]!);
    }
    this.#floorBps = Math.max(FLOOR_BPS, FLOOR_SHARE * highest);
    this.#levelScores = levels.map(normalQuantile);
    this.#correlation = Math.min(MAX_CORRELATION, rankCorrelation);
    return true;
  }

  /** The step at `seconds` from now. */
  stepAt(seconds: number): number {
    const last = this.#count - 1;
    let step = 0;
    while (step < last && this.#ageSeconds + seconds >= this.ends[step]!) step++;
    return step;
  }

  /** End of each step in seconds from now; the last step goes on. */
  endsFromNow(): number[] {
    return Array.from(this.ends.subarray(0, this.#count), (end) => end - this.#ageSeconds);
  }

  /**
   * The capacity of a step at ascending normal scores: its logarithm is linear in the score between the quantile levels,
   * and goes on so beyond them.
   */
  capacitiesBps(step: number, scores: Float64Array): Float64Array {
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
