/**
 * The scorer of past forecasts: keeps each until its steps are over, and reads which rate the link delivered in them.
 * What a step's rate says of its forecast is for the user to judge: recalibration.ts takes the spread from it,
 * service-client/forecast-trust.ts the trust in a service.
 */

import { DeliveredTimeline } from '../link/delivered-timeline.ts';

export interface PastForecast {
  issuedSeconds: number;
  stepEndsSeconds: readonly number[];
}

export interface PastForecastsOptions<F> {
  /** The link is remembered for this long, and as many forecasts are, one a second. */
  memorySeconds: number;
  /** Steps that end later are not scored, except for the first. Default: all are. */
  horizonSeconds?: number;
  /** A step of this length is scored if the link was in use for this share of it. */
  leastUse: (stepSeconds: number) => number;
  /** Receives the rate of each step that is over, in order of time within a forecast. */
  onStep: (forecast: F, step: number, rateBps: number) => void;
}

export class PastForecasts<F extends PastForecast> {
  readonly #options: PastForecastsOptions<F>;
  /** What the link delivered. */
  readonly delivered: DeliveredTimeline;
  #pending: { forecast: F; steps: number; scored: number }[] = [];

  constructor(options: PastForecastsOptions<F>) {
    this.#options = options;
    this.delivered = new DeliveredTimeline(options.memorySeconds);
  }

  /** Keeps a forecast for later scoring. */
  add(forecast: F): void {
    const { horizonSeconds = Number.POSITIVE_INFINITY, memorySeconds } = this.#options;
    const isLater = (end: number, step: number) => step > 0 && end > horizonSeconds;
    const later = forecast.stepEndsSeconds.findIndex(isLater);
    this.#pending.push({ forecast, steps: later < 0 ? forecast.stepEndsSeconds.length : later, scored: 0 });
    if (this.#pending.length > memorySeconds) this.#pending.shift();
  }

  /** Scores the steps that are over at `nowSeconds`. */
  score(nowSeconds: number): void {
    const { leastUse, onStep } = this.#options;
    for (const pending of this.#pending) {
      const { issuedSeconds, stepEndsSeconds } = pending.forecast;
      for (; pending.scored < pending.steps; pending.scored++) {
        const to = issuedSeconds + stepEndsSeconds[pending.scored]!;
        if (to > nowSeconds) break;
        const from = issuedSeconds + (stepEndsSeconds[pending.scored - 1] ?? 0);
        const rateBps = this.delivered.rateBps(from, to, leastUse(to - from));
        if (!Number.isNaN(rateBps)) onStep(pending.forecast, pending.scored, rateBps);
      }
    }
    this.#pending = this.#pending.filter(({ steps, scored }) => scored < steps);
  }
}
