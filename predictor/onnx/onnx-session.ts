/**
 * A session whose model is an ONNX file: the model's features in, its outputs validated, the newest forecast, and an
 * error that `latest` throws once. The forecaster with a Worker extends it by a way to evaluate the model.
 */

import { InputError } from '../../abr/errors.ts';
import type { QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { type ForecastMoment, ModelSession } from '../forecast/model-session.ts';
import { FEATURES } from '../link/features.ts';
import type { ModelCard } from './model-card.ts';

/** Quantiles of float32 sums may cross by this much. */
const CROSSING_SLACK = 1e-4;

export class OnnxSession extends ModelSession {
  readonly name = 'onnx';
  protected newest: QuantileForecast | undefined;
  /** An error that `latest` has not thrown yet. */
  protected fault: Error | undefined;
  readonly #features = new Float64Array(FEATURES.length);
  #card: ModelCard | undefined;
  /** The indices of the model's features in `FEATURES`. */
  #inputs: readonly number[] = [];

  /** The model's card, once it is loaded. */
  get card(): ModelCard | undefined {
    return this.#card;
  }

  protected useCard(card: ModelCard): void {
    const { input, output, rankCorrelation } = card;
    this.#card = card;
    this.#inputs = input.features.map(({ name }) => FEATURES.findIndex((feature) => feature.name === name));
    this.useModel({ ...output, rankCorrelation });
  }

  override start(context: SessionContext): void {
    this.newest = undefined;
    super.start(context);
  }

  /** The newest forecast. Throws an error since the previous call once. */
  latest(_nowSeconds: number): QuantileForecast | undefined {
    const { fault } = this;
    this.fault = undefined;
    if (fault !== undefined) throw fault;
    return this.newest;
  }

  /** The moment with its features in the model's order; undefined without observations. */
  protected inputsAt(nowSeconds: number): (ForecastMoment & { inputs: Float32Array }) | undefined {
    const moment = this.moment(nowSeconds, this.#features);
    return moment && { ...moment, inputs: Float32Array.from(this.#inputs, (at) => this.#features[at]!) };
  }

  /** Makes the forecast of the model's outputs. @throws {InputError} for numbers that are not quantiles */
  protected publish(moment: ForecastMoment, quantiles: Float32Array): void {
    const { name, output } = this.#card!;
    const size = output.stepEndsSeconds.length * output.levels.length;
    if (quantiles.length !== size) throw new InputError('quantiles', `${size} numbers`, quantiles.length);
    const values = Float64Array.from(quantiles);
    for (let i = 0; i < size; i++) {
      const least = i % output.levels.length === 0 ? Number.NEGATIVE_INFINITY : values[i - 1]!;
      if (!(Number.isFinite(values[i]) && values[i]! >= least - CROSSING_SLACK)) {
        throw new InputError(`quantiles[${i}]`, `a number from ${least}`, values[i]);
      }
      values[i] = Math.max(least, values[i]!);
    }
    this.newest = this.forecast(moment, `model:${name}`, values);
  }
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
