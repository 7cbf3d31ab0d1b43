/** `leo-abr/onnx`: forecasts of an ONNX model, evaluated in a Worker. */

import { type OnnxForecaster, type OnnxForecasterOptions, WorkerForecaster } from './onnx-forecaster.ts';

export { InputError } from '../../abr/errors.ts';
export type { Forecaster } from '../../abr/forecast.ts';
export type { HandoverClock } from '../link/handover-clock/handover-clock.ts';
export type { ModelCard } from './model-card.ts';
export type { OnnxForecaster, OnnxForecasterOptions } from './onnx-forecaster.ts';

/**
 * A forecaster for the plugin's option `forecasters`. onnxruntime-web evaluates the ONNX model at `modelUrl` in a
 * module Worker; without forecasts until the model is loaded. A failure (no Workers, a missing file, a policy, an
 * invalid model, a Worker that fails or does not respond) is one fault of the plugin, which then uses the next
 * forecaster.
 * @throws {InputError} (field, expected, received) for invalid options.
 */
export function createOnnxForecaster(options: OnnxForecasterOptions): OnnxForecaster {
  return new WorkerForecaster(options);
}
