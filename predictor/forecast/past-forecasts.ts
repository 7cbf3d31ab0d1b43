/**
 * Keeps forecasts until their steps are over, and finds the rates that the link then delivered: recalibration.ts
 * derives the spread of forecasts from these rates, service-client/forecast-trust.ts the trust in a service.
 */

import { deliveredTimeline } from '../link/delivered-timeline.ts';

export interface PastForecast {
  issuedSeconds: number;
  stepEndsSeconds: readonly number[];
}

export interface PastForecastsOptions<F> {
  /** The link is remembered for this long, and this many forecasts, one a second. */
  memorySeconds: number;
  /** Later steps are not scored, except the first. Default: all are. */
  horizonSeconds?: number;
  /** A step is scored if the link was in use for this share of it. */
  leastUse: (stepSeconds: number) => number;
  /** Receives the rate of each scored step, in order of time within a forecast. */
  onStep: (forecast: F, step: number, rateBps: number) => void;
}

export type PastForecasts<F extends PastForecast> = ReturnType<typeof pastForecasts<F>>;

export function pastForecasts<F extends PastForecast>(options: PastForecastsOptions<F>) {
  const { horizonSeconds = Number.POSITIVE_INFINITY, memorySeconds, leastUse, onStep } = options;
  const delivered = deliveredTimeline(memorySeconds);
  let all: { forecast: F; steps: number; scored: number }[] = [];
  return {
    delivered,

    add(forecast: F): void {
      const { stepEndsSeconds } = forecast;
      const later = stepEndsSeconds.findIndex((end, step) => step > 0 && end > horizonSeconds);
      all.push({ forecast, steps: later < 0 ? stepEndsSeconds.length : later, scored: 0 });
      if (all.length > memorySeconds) all.shift();
    },

    /** Scores the steps that are over at `nowSeconds`. */
    score(nowSeconds: number): void {
      for (const pending of all) {
        const { issuedSeconds, stepEndsSeconds } = pending.forecast;
        for (; pending.scored < pending.steps; pending.scored++) {
          const to = issuedSeconds + stepEndsSeconds[pending.scored]!;
          if (to > nowSeconds) break;
          const from = issuedSeconds + (stepEndsSeconds[pending.scored - 1] || 0);
          const rateBps = delivered.rateBps(from, to, leastUse(to - from));
          if (!Number.isNaN(rateBps)) onStep(pending.forecast, pending.scored, rateBps);
        }
      }
      all = all.filter(({ steps, scored }) => scored < steps);
    },
  };
}
