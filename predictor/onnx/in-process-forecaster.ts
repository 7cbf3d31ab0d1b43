/** A forecaster with a loaded ONNX model (`loadModel`), without a Worker: for the prediction service. */

import type { Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { ModelSession, type ModelSessionOptions } from '../forecast/model-session.ts';
import { FEATURES } from '../link/features.ts';
import type { LoadedModel } from './inference.ts';
import { modelValues } from './model-values.ts';

export class InProcessForecaster extends ModelSession implements Forecaster {
  readonly name = 'onnx';
  readonly #model: LoadedModel;
  readonly #features = new Float64Array(FEATURES.length);
  /** The indices of the model's features in `FEATURES`. */
  readonly #inputs: readonly number[];
  #sessions = 0;
  #isBusy = false;
  #newest: QuantileForecast | undefined;
  /** An error that `latest` has not thrown yet. */
  #fault: Error | undefined;

  constructor(model: LoadedModel, options: ModelSessionOptions = {}) {
    super(options);
    const { input, output, rankCorrelation } = model.card;
    this.#model = model;
    this.useModel({ ...output, rankCorrelation });
    this.#inputs = input.features.map(({ name }) => FEATURES.findIndex((feature) => feature.name === name));
  }

  override start(context: SessionContext): void {
    this.#sessions++;
    this.#newest = undefined;
    super.start(context);
  }

  /**
   * Evaluates the model for `latest`, unless an evaluation is active or this time was evaluated. Resolves at the end.
   */
  async prepare(nowSeconds: number): Promise<void> {
    if (this.#isBusy || this.#newest?.issuedAtMs === nowSeconds * 1000) return;
    const moment = this.moment(nowSeconds, this.#features);
    if (moment === undefined) return;
    const session = this.#sessions;
    const { card } = this.#model;
    this.#isBusy = true;
    try {
      const quantiles = await this.#model.evaluate(Float32Array.from(this.#inputs, (at) => this.#features[at]!));
      const values = modelValues(quantiles, card.output);
      if (session === this.#sessions) this.#newest = this.forecast(moment, `model:${card.name}`, values);
    } catch (error) {
      this.#fault = error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#isBusy = false;
    }
  }

  /** The newest prepared forecast. Throws an error since the previous call once. */
  latest(_nowSeconds: number): QuantileForecast | undefined {
    const fault = this.#fault;
    if (fault !== undefined) {
      this.#fault = undefined;
      throw fault;
    }
    return this.#newest;
  }
}
