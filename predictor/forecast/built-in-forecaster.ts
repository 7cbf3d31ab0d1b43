/**
 * The forecaster that is always part of the plugin: quantiles of the capacity of the next 48 s, from the session's
 * history and a small network. docs/how-it-works.md describes their training and accuracy. Pure, deterministic, constant
 * memory; no clock and no I/O.
 */

import type { Forecast, Forecaster, QuantileForecast } from '../../abr/forecast.ts';
import { FEATURE_COUNT } from '../link/link-history.ts';
import { type Model, type ModelFile, unpackModel } from './model-file.ts';
import { ModelSession, type ModelSessionOptions } from './model-session.ts';
import { evaluateNetwork } from './quantile-network.ts';
import { SHIPPED_MODEL } from './shipped-model.ts';

/** A forecast is reused for this long. */
const LIFETIME_SECONDS = 0.2;

export interface BuiltInForecasterOptions extends ModelSessionOptions {
  /** A model of `leo-abr train`: a result of `parseModel`, or JSON that it accepts. Default: the shipped one. */
  model?: Model | ModelFile;
}

export function createBuiltInForecaster(options: BuiltInForecasterOptions = {}): BuiltInForecaster {
  return new BuiltInForecaster(options);
}

export class BuiltInForecaster extends ModelSession implements Forecaster {
  name = 'built-in';
  #model!: Model;
  readonly #features = new Float64Array(FEATURE_COUNT);
  #values!: Float64Array;
  #newest: QuantileForecast | undefined;

  constructor({ model, ...options }: BuiltInForecasterOptions) {
    super(options);
    this.useModel(model === undefined || 'format' in model ? unpackModel(model ?? SHIPPED_MODEL) : model);
  }

  /** Also during a session, whose history stays. */
  override useModel(model: Model): void {
    this.#model = model;
    this.#values = new Float64Array(model.stepEndsSeconds.length * model.levels.length);
    this.#newest = undefined;
    super.useModel(model);
  }

  latest(nowSeconds: number): Forecast | undefined {
    const age = nowSeconds - (this.#newest?.issuedAtMs ?? Number.NaN) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return this.#newest;
    const moment = this.moment(nowSeconds, this.#features);
    if (moment === undefined) return undefined;
    const { layers, levels } = this.#model;
    evaluateNetwork(layers, levels.length, this.#features, this.#values);
    this.#newest = this.forecast(moment, this.name, this.#values);
    return this.#newest;
  }
}
