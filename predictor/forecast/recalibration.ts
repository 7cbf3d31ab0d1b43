/**
 * Recalibrates forecasts by the session's own errors: the normal scores of past forecasts show whether their spread
 * fits this link. The spread of new forecasts is scaled accordingly; the median stays (shifting it by past errors made
 * the forecasts worse on every data set, docs/findings.md).
 *
 * The scale is the root of the mean squared score with a prior of 1: a shrunk variance, as in dynamic linear models
 * (West and Harrison 1997, section 4.5). Each step's scale is shrunk towards that of all steps: a link may vary less
 * from second to second than expected, but more within a minute.
 */

import { normalQuantile } from '../../abr/statistics/normal-distribution.ts';
import { type PastForecast, PastForecasts } from './past-forecasts.ts';
import type { ModelOutline } from './quantile-network.ts';

/** Weight of the prior of 1, in forecasts; one is scored per second. */
const PRIOR_FORECASTS = 20;
/** Weight of the variance of all steps in that of one step, in forecasts. */
const PRIOR_OF_STEP = 80;
/** One forecast per period is scored. */
const PERIOD_SECONDS = 1;
/** A step is scored if the link was in use for this share of it. */
const LEAST_USE = 0.4;
/** Limit of scores: an outage is one event, however deep. */
const GREATEST_SCORE = 2.5;
/** Limits of the scale. */
const LEAST_SCALE = 0.6;
const GREATEST_SCALE = 1.5;
/** Floor of rates, as a share of the reference, as in training. */
const LEAST_LOG_RATIO = Math.log(0.003);

/** `values` are its quantiles as ln(rate / reference), before they were scaled. */
interface Unscaled extends PastForecast {
  logReference: number;
  values: Float64Array;
}

export class Recalibration {
  readonly #ends: readonly number[];
  /** The normal score of each quantile level. */
  readonly #scores: readonly number[];
  readonly #past: PastForecasts<Unscaled>;
  #lastIssuedSeconds = Number.NEGATIVE_INFINITY;
  /** Per step: sum and number of squared scores. */
  readonly #squares: Float64Array;
  readonly #counts: Float64Array;

  constructor({ stepEndsSeconds, levels }: Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>) {
    this.#ends = stepEndsSeconds;
    this.#scores = levels.map(normalQuantile);
    const horizon = stepEndsSeconds[stepEndsSeconds.length - 1]!;
    this.#past = new PastForecasts({
      memorySeconds: horizon + PERIOD_SECONDS + 1,
      leastUse: () => LEAST_USE,
      onStep: (forecast, step, rateBps) => this.#scoreStep(forecast, step, rateBps),
    });
    this.#squares = new Float64Array(stepEndsSeconds.length);
    this.#counts = new Float64Array(stepEndsSeconds.length);
  }

  /** Over all steps; the steps of a forecast together have the weight of one forecast. */
  #variance(): number {
    const steps = this.#ends.length;
    let squares = PRIOR_FORECASTS;
    let weight = PRIOR_FORECASTS;
    for (let step = 0; step < steps; step++) {
      squares += this.#squares[step]! / steps;
      weight += this.#counts[step]! / steps;
    }
    return squares / weight;
  }

  /** `bits` arrived between two seconds of the session, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    this.#past.delivered.add(startSeconds, endSeconds, bits);
  }

  /**
   * Scores past forecasts, keeps the new one (`[step * levels + level]`, ln(rate / reference), not scaled yet) for
   * later scoring, and scales its spread in place.
   */
  apply(nowSeconds: number, referenceBps: number, values: Float64Array): void {
    this.#past.score(nowSeconds);
    if (nowSeconds - this.#lastIssuedSeconds >= PERIOD_SECONDS) {
      this.#lastIssuedSeconds = nowSeconds;
      const logReference = Math.log(referenceBps);
      const timed = { issuedSeconds: nowSeconds, stepEndsSeconds: this.#ends };
      this.#past.add({ ...timed, logReference, values: values.slice() });
    }
    const variance = this.#variance();
    const levels = this.#scores.length;
    const middle = levels >> 1;
    for (let step = 0; step < this.#ends.length; step++) {
      const squares = this.#squares[step]! + PRIOR_OF_STEP * variance;
      const scale = limited(squares / (this.#counts[step]! + PRIOR_OF_STEP));
      const at = step * levels;
      const median = values[at + middle]!;
      for (let i = 0; i < levels; i++) values[at + i] = median + scale * (values[at + i]! - median);
    }
  }

  #scoreStep({ logReference, values }: Unscaled, step: number, rateBps: number): void {
    const value = Math.max(LEAST_LOG_RATIO, Math.log(rateBps) - logReference);
    this.#squares[step]! += this.#scoreOf(value, values, step * this.#scores.length) ** 2;
    this.#counts[step]!++;
  }

  /** Normal score of a value in the quantiles from index `at`, linear between and beyond them. */
  #scoreOf(value: number, quantiles: Float64Array, at: number): number {
    const scores = this.#scores;
    let i = 1;
    while (i < scores.length - 1 && value > quantiles[at + i]!) i++;
    const low = quantiles[at + i - 1]!;
    const width = Math.max(1e-4, quantiles[at + i]! - low);
    const score = scores[i - 1]! + ((scores[i]! - scores[i - 1]!) * (value - low)) / width;
    return Math.min(GREATEST_SCORE, Math.max(-GREATEST_SCORE, score));
  }
}

function limited(variance: number): number {
  return Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, Math.sqrt(variance)));
}
