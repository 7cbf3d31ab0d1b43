/**
 * The forecaster that the plugin always has: quantiles of the capacity of the next 48 s from what the session has seen so
 * far, by small networks shipped as a table (`shipped-model.ts`). docs/predictors.md says how it was trained and how
 * well it does. Pure, deterministic, constant memory; no clock and no I/O of its own.
 */

import type { Forecaster } from '../../abr/forecast.ts';
import type { HandoverClock } from '../handover-clock/handover-clock.ts';
import { ModelForecaster } from '../model-forecaster.ts';
import type { ModelSessionOptions } from '../model-session.ts';
import { type Model, type ModelFile, parseModel } from './model-file.ts';
import { QuantileNetworks } from './quantile-network.ts';
import { SHIPPED_MODEL } from './shipped-model.ts';

export interface BuiltInForecasterOptions extends ModelSessionOptions {
  /** A model of `leo-abr train`, as its JSON holds it or as `parseModel` gave it. Default: the shipped one. */
  model?: Model | ModelFile;
}

export interface BuiltInForecaster extends Forecaster {
  /** Absent with `handover: false`. May be told better times and hints; the forecaster itself tells it all it observes. */
  readonly handoverClock: HandoverClock | undefined;
  /** What the session's errors make of the forecasts' spread; 1 at first. */
  readonly spreadScale: number;
}

/** Throws an `InputError` for a model that is none. */
export function createBuiltInForecaster({
  model = SHIPPED_MODEL,
  ...options
}: BuiltInForecasterOptions = {}): BuiltInForecaster {
  const parsed = 'format' in model ? parseModel(model) : model;
  const { networks, stepEndsSeconds, levels } = parsed;
  const outputs = new QuantileNetworks(networks, stepEndsSeconds.length, levels.length);
  return new ModelForecaster('built-in', parsed, (features, values) => outputs.evaluate(features, values), options);
}
