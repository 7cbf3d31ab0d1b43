/** The plugin's own forecaster, with the model that it ships. */

import { SubSecond } from '../link/sub-second.ts';
import { type Model, type ModelSessionOptions, networkModel, QuantileForecaster } from './quantile-forecaster.ts';
import { shippedModel } from './shipped-model.ts';

export interface BuiltInForecasterOptions extends Omit<ModelSessionOptions, 'newSubSecond'> {
  /** A model of `leo-abr train`, from `parseModel`. Default: the shipped one. */
  model?: Model | undefined;
  /** Whether to model the link within a second, for plans at the live edge. Default true. */
  subSecond?: boolean;
}

export function createBuiltInForecaster(options: BuiltInForecasterOptions = {}): QuantileForecaster {
  const { model = shippedModel(), subSecond = true, ...others } = options;
  const newSubSecond = subSecond ? () => new SubSecond() : undefined;
  const forecaster = new QuantileForecaster('built-in', { ...others, newSubSecond });
  forecaster.useModel(networkModel(model, forecaster.name));
  return forecaster;
}
