/**
 * A compared model in a session. Everything but the model and the single seconds that it may look at is the built-in
 * forecaster's: history, handovers, recalibration, how long a forecast lives.
 */

import type { Forecast, Forecaster, Observation, SessionContext } from '../../abr/forecast.ts';
import type { HandoverClock } from '../handover-clock/handover-clock.ts';
import { ModelForecaster } from '../model-forecaster.ts';
import type { ModelSessionOptions } from '../model-session.ts';
import type { ComparedModel } from './compared-model.ts';
import { SecondBins } from './second-bins.ts';

/** Forecasts of the model; their source is its kind. */
export function createComparedForecaster(model: ComparedModel, options: ModelSessionOptions = {}): ComparedForecaster {
  return new ComparedForecaster(model, options);
}

export class ComparedForecaster implements Forecaster {
  readonly name: string;
  readonly #forecaster: ModelForecaster;
  #bins = new SecondBins();

  constructor(model: ComparedModel, options: ModelSessionOptions) {
    this.name = model.kind;
    this.#forecaster = new ModelForecaster(
      this.name,
      model,
      (features, values, { nowSeconds, referenceBps }) =>
        model.evaluate(features, this.#bins.moment(nowSeconds, referenceBps), values),
      options,
    );
  }

  get handoverClock(): HandoverClock | undefined {
    return this.#forecaster.handoverClock;
  }

  start(context: SessionContext): void {
    this.#bins = new SecondBins();
    this.#forecaster.start(context);
  }

  observe(observation: Observation): void {
    this.#bins.observe(observation);
    this.#forecaster.observe(observation);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    this.#forecaster.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  latest(nowSeconds: number): Forecast | undefined {
    return this.#forecaster.latest(nowSeconds);
  }
}
