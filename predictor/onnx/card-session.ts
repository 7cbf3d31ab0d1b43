/** A session with a model that a card describes: the model's inputs, and forecasts of its outputs. */

import { InputError } from '../../abr/errors.ts';
import type { Forecaster, QuantileForecast } from '../../abr/forecast.ts';
import { type ForecastMoment, ModelSession, type ModelSessionOptions } from '../forecast/model-session.ts';
import { FEATURES } from '../link/features.ts';
import type { ModelCard } from './model-card.ts';

/** Rounding of float32 may make quantiles cross by this much. */
const CROSSING_SLACK = 1e-4;

export class CardSession extends ModelSession {
  card: ModelCard | undefined;
  private readonly _features = new Float64Array(FEATURES.length);
  /** Indices of the model's features in `FEATURES`. */
  private _inputs: readonly number[] = [];

  useCard(card: ModelCard): void {
    const { input, output, rankCorrelation } = card;
    this.card = card;
    this._inputs = input.features.map(({ name }) => FEATURES.findIndex((feature) => feature.name === name));
    this.useModel({ ...output, rankCorrelation });
  }

  /** The features in the model's order; undefined without observations. */
  inputsAt(nowSeconds: number): (ForecastMoment & { inputs: Float32Array }) | undefined {
    const moment = this.moment(nowSeconds, this._features);
    return moment && { ...moment, inputs: Float32Array.from(this._inputs, (at) => this._features[at]!) };
  }

  /** The forecast of the model's outputs. Requires `useCard`. @throws {InputError} for numbers that are not quantiles */
  forecastOf(moment: ForecastMoment, quantiles: Float32Array): QuantileForecast {
    const { name, output } = this.card!;
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
    return this.forecast(moment, `model:${name}`, values);
  }
}

/** A model with synchronous evaluation, as in the simulator. */
export interface EvaluatedModel {
  card: ModelCard;
  /** Quantiles `[step * levels + level]` for features in the order of the card. */
  evaluate(features: Float32Array): Float32Array;
}

/** The forecaster of an `EvaluatedModel`. Its forecasts are up to 0.2 s old. */
export class EvaluatedForecaster extends CardSession implements Forecaster {
  readonly name = 'onnx';

  constructor(
    private readonly _model: EvaluatedModel,
    options: ModelSessionOptions = {},
  ) {
    super(options);
    this.useCard(_model.card);
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    if (this._isRecent(nowSeconds)) return this._newest;
    const moment = this.inputsAt(nowSeconds);
    if (moment !== undefined) this._newest = this.forecastOf(moment, this._model.evaluate(moment.inputs));
    return moment && this._newest;
  }
}
