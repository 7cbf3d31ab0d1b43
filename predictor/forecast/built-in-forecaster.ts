/**
 * The plugin's own forecaster: quantiles of the capacity of the next 48 s, from the session's history and a small
 * network (docs/how-it-works.md). Deterministic, constant memory, no clock and no I/O.
 */

import type { Forecast, Forecaster } from '../../abr/forecast.ts';
import { FEATURE_COUNT } from '../link/link-history.ts';
import { SubSecond } from '../link/sub-second.ts';
import { evaluateNetwork, type Model, ModelSession, type ModelSessionOptions } from './model-session.ts';
import { shippedModel } from './shipped-model.ts';

export interface BuiltInForecasterOptions extends Omit<ModelSessionOptions, 'newSubSecond'> {
  /** A model of `leo-abr train`, from `parseModel`. Default: the shipped one. */
  model?: Model | undefined;
  /** Whether to model the link within a second, for plans at the live edge. Default true. */
  subSecond?: boolean;
}

export function createBuiltInForecaster(options: BuiltInForecasterOptions = {}): BuiltInForecaster {
  const { model, subSecond = true, ...others } = options;
  const forecaster = new BuiltInForecaster({ ...others, newSubSecond: subSecond ? () => new SubSecond() : undefined });
  forecaster.useModel(model ?? shippedModel());
  return forecaster;
}

/** Without `useModel` it has no forecasts. */
export class BuiltInForecaster extends ModelSession implements Forecaster {
  name = 'built-in';
  private _model: Model | undefined;
  private readonly _features = new Float64Array(FEATURE_COUNT);
  private _values!: Float64Array;

  /** May be called during a session, whose history stays. */
  override useModel(model: Model): void {
    this._model = model;
    this._values = new Float64Array(model.stepEndsSeconds.length * model.levels.length);
    super.useModel(model);
  }

  latest(nowSeconds: number): Forecast | undefined {
    if (this._isRecent(nowSeconds)) return this._newest;
    const moment = this._model && this.moment(nowSeconds, this._features);
    if (moment === undefined) return undefined;
    const { layers, levels } = this._model!;
    evaluateNetwork(layers, levels.length, this._features, this._values);
    this._newest = this.forecast(moment, this.name, this._values);
    return this._newest;
  }
}
