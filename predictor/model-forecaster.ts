/**
 * A forecaster that puts `FEATURES` through a model which is at hand and takes no time worth mentioning: the built-in one, and
 * those that it is compared with. No clock and no I/O of its own.
 */

import type { Forecast, Forecaster, Observation, QuantileForecast, SessionContext } from '../abr/forecast.ts';
import type { HandoverClock } from './handover-clock/handover-clock.ts';
import { FEATURES } from './link-history.ts';
import { type ForecastMoment, type ModelOutline, ModelSession, type ModelSessionOptions } from './model-session.ts';

/** A forecast is made anew after this long, not each time it is asked for. */
const LIFETIME_SECONDS = 0.2;

/** Writes a model's outputs, `[step * levels + level]`, ln of ratios to the reference rate, into `values`. */
export type Evaluate = (features: Float64Array, values: Float64Array, moment: ForecastMoment) => void;

export class ModelForecaster implements Forecaster {
  readonly #session: ModelSession;
  readonly #evaluate: Evaluate;
  readonly #features = new Float64Array(FEATURES.length);
  readonly #values: Float64Array;
  #newest: QuantileForecast | undefined;

  constructor(
    /** The source of its forecasts. */
    readonly name: string,
    outline: ModelOutline,
    evaluate: Evaluate,
    options: ModelSessionOptions,
  ) {
    this.#evaluate = evaluate;
    this.#values = new Float64Array(outline.stepEndsSeconds.length * outline.levels.length);
    this.#session = new ModelSession(options);
    this.#session.useModel(outline);
  }

  /** Absent with `handover: false`. May be told better times and hints; the forecaster itself tells it all it observes. */
  get handoverClock(): HandoverClock | undefined {
    return this.#session.handoverClock;
  }

  /** What the session's errors make of the forecasts' spread; 1 at first. */
  get spreadScale(): number {
    return this.#session.spreadScale;
  }

  start(context: SessionContext): void {
    this.#newest = undefined;
    this.#session.start(context);
  }

  observe(observation: Observation): void {
    this.#session.observe(observation);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    this.#session.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  latest(nowSeconds: number): Forecast | undefined {
    const newest = this.#newest;
    if (newest !== undefined) {
      const age = nowSeconds - newest.issuedAtMs / 1000;
      if (age >= 0 && age < LIFETIME_SECONDS) return newest;
    }
    const moment = this.#session.moment(nowSeconds, this.#features);
    if (moment === undefined) return undefined;
    this.#evaluate(this.#features, this.#values, moment);
    this.#newest = this.#session.forecast(moment, this.name, this.#values);
    return this.#newest;
  }
}
