/**
 * Scales the spread of forecasts by the session's own errors: the normal scores of past forecasts show whether their
 * spread fits this link. The median stays, because shifting it by past errors is worse on every data set
 * (docs/findings.md).
 *
 * The scale is the root of the mean squared score with a prior of 1: a shrunk variance, as in dynamic linear models
 * (West and Harrison 1997, section 4.5). Each step's variance is shrunk towards the variance of all steps, because a
 * link may vary less than expected from second to second, but more within a minute.
 */

import { normalQuantile } from '../../abr/statistics/normal-distribution.ts';
import { type PastForecast, pastForecasts } from './past-forecasts.ts';
import type { ModelOutline } from './quantile-network.ts';

/** Weight of the prior of 1, in forecasts. */
const PRIOR_FORECASTS = 20;
/** Weight of all steps' variance in the variance of one step, in forecasts. */
const PRIOR_OF_STEP = 80;
/** Period of the scored forecasts. */
const PERIOD_SECONDS = 1;
/** A step is scored if the link was in use for this share of it. */
const LEAST_USE = 0.4;
/** Limit of scores, because an outage is one event, however deep. */
const GREATEST_SCORE = 2.5;
/** Limits of the scale. */
const LEAST_SCALE = 0.6;
const GREATEST_SCALE = 1.5;
/** Floor of rates, as a share of the reference, as in training. */
const LEAST_LOG_RATIO = Math.log(0.003);

interface Unscaled extends PastForecast {
  logReference: number;
  /** Quantiles as ln(rate / reference), before their scaling. */
  values: Float64Array;
}

export type Recalibration = ReturnType<typeof recalibration>;

export function recalibration({ stepEndsSeconds, levels }: Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>) {
  const steps = stepEndsSeconds.length;
  /** The normal score of each quantile level. */
  const scores = levels.map(normalQuantile);
  /** Per step: sum and number of squared scores. */
  const squares = new Float64Array(steps);
  const counts = new Float64Array(steps);
  let lastIssuedSeconds = Number.NEGATIVE_INFINITY;
  const past = pastForecasts<Unscaled>({
    memorySeconds: stepEndsSeconds[steps - 1]! + PERIOD_SECONDS + 1,
    leastUse: () => LEAST_USE,
    onStep({ logReference, values }, step, rateBps) {
      const value = Math.max(LEAST_LOG_RATIO, Math.log(rateBps) - logReference);
      squares[step]! += scoreOf(value, values, step * scores.length) ** 2;
      counts[step]!++;
    },
  });

  /** Normal score of a value in the quantiles from index `at` on, linear between and beyond the quantiles. */
  function scoreOf(value: number, quantiles: Float64Array, at: number): number {
    let i = 1;
    while (i < scores.length - 1 && value > quantiles[at + i]!) i++;
    const low = quantiles[at + i - 1]!;
    const width = Math.max(1e-4, quantiles[at + i]! - low);
    const score = scores[i - 1]! + ((scores[i]! - scores[i - 1]!) * (value - low)) / width;
    return Math.min(GREATEST_SCORE, Math.max(-GREATEST_SCORE, score));
  }

  /** Variance over all steps. The steps of a forecast together have the weight of one forecast. */
  function variance(): number {
    let sum = PRIOR_FORECASTS;
    let weight = PRIOR_FORECASTS;
    for (let step = 0; step < steps; step++) {
      sum += squares[step]! / steps;
      weight += counts[step]! / steps;
    }
    return sum / weight;
  }

  return {
    observe: past.delivered.add,

    /** Scores past forecasts, keeps the new forecast, `[step * levels + level]`, and scales its spread in place. */
    apply(nowSeconds: number, referenceBps: number, values: Float64Array): void {
      past.score(nowSeconds);
      if (nowSeconds - lastIssuedSeconds >= PERIOD_SECONDS) {
        lastIssuedSeconds = nowSeconds;
        const logReference = Math.log(referenceBps);
        past.add({ issuedSeconds: nowSeconds, stepEndsSeconds, logReference, values: values.slice() });
      }
      const ofAll = PRIOR_OF_STEP * variance();
      for (let step = 0; step < steps; step++) {
        const scale = Math.sqrt((squares[step]! + ofAll) / (counts[step]! + PRIOR_OF_STEP));
        const limited = Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, scale));
        const at = step * levels.length;
        const median = values[at + (levels.length >> 1)]!;
        for (let i = at; i < at + levels.length; i++) values[i] = median + limited * (values[i]! - median);
      }
    },
  };
}
