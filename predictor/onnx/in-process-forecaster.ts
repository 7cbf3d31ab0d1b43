/**
 * A forecaster by an ONNX model that is evaluated where it is asked, without a Worker: for the prediction service, which has
 * no page to keep smooth. The model is loaded before (`loadModel`).
 */

import type { Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import type { HandoverClock } from '../handover-clock/handover-clock.ts';
import { FEATURES } from '../link-history.ts';
import { ModelSession, type ModelSessionOptions } from '../model-session.ts';
import type { LoadedModel } from './inference.ts';
import { modelValues } from './model-values.ts';

export class InProcessForecaster implements Forecaster {
  readonly name = 'onnx';
  readonly #model: LoadedModel;
  readonly #session: ModelSession;
  readonly #features = new Float64Array(FEATURES.length);
  /** Of the model's features: where they are in `FEATURES`. */
  readonly #inputs: readonly number[];
  #sessions = 0;
  #isBusy = false;
  #newest: QuantileForecast | undefined;
  /** What went wrong and has not been told yet. */
  #fault: Error | undefined;

  constructor(model: LoadedModel, options: ModelSessionOptions = {}) {
    const { input, output, rankCorrelation } = model.card;
    this.#model = model;
    this.#session = new ModelSession(options);
    this.#session.useModel({ ...output, rankCorrelation });
    this.#inputs = input.features.map(({ name }) => FEATURES.findIndex((feature) => feature.name === name));
  }

  get handoverClock(): HandoverClock | undefined {
    return this.#session.handoverClock;
  }

  start(context: SessionContext): void {
    this.#sessions++;
    this.#newest = undefined;
    this.#session.start(context);
  }

  observe(observation: Observation): void {
    this.#session.observe(observation);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    this.#session.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  /** Has this moment evaluated, unless one is under way, or this one was. `latest` has it when the promise is kept. */
  async prepare(nowSeconds: number): Promise<void> {
    if (this.#isBusy || this.#newest?.issuedAtMs === nowSeconds * 1000) return;
    const moment = this.#session.moment(nowSeconds, this.#features);
    if (moment === undefined) return;
    const session = this.#sessions;
    const { card } = this.#model;
    this.#isBusy = true;
    try {
      const quantiles = await this.#model.evaluate(Float32Array.from(this.#inputs, (at) => this.#features[at]!));
      const values = modelValues(quantiles, card.output);
      if (session === this.#sessions) this.#newest = this.#session.forecast(moment, `model:${card.name}`, values);
    } catch (error) {
      this.#fault = error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#isBusy = false;
    }
  }

  /** The newest forecast that was prepared. Throws once what went wrong in the meantime. */
  latest(_nowSeconds: number): QuantileForecast | undefined {
    const fault = this.#fault;
    if (fault !== undefined) {
      this.#fault = undefined;
      throw fault;
    }
    return this.#newest;
  }
}
