/** `leo-abr/onnx`: forecasts of a model in the ONNX format, evaluated off the page's main thread. */

import { type OnnxForecaster, type OnnxForecasterOptions, WorkerForecaster } from './onnx-forecaster.ts';

export { InputError } from '../../abr/errors.ts';
export type { Forecaster } from '../../abr/forecast.ts';
export type { HandoverClock } from '../handover-clock/handover-clock.ts';
export type { ModelCard } from './model-card.ts';
export type { OnnxForecaster, OnnxForecasterOptions } from './onnx-forecaster.ts';

/**
 * A forecaster for the plugin's option `forecasters`: quantiles of the link's capacity by the ONNX model at `modelUrl`,
 * which onnxruntime-web evaluates in a module Worker. Until it is loaded there is no forecast; whatever goes wrong (no
 * Workers, a file that is missing, a policy that forbids it, a model that does not fit, a Worker that breaks down or
 * does not answer) is one fault of the plugin and no forecast: the next forecaster is asked. Nothing waits for it.
 *
 * Throws an `InputError` (field, expected, received) for an option that cannot be worked with.
 */
export function createOnnxForecaster(options: OnnxForecasterOptions): OnnxForecaster {
  return new WorkerForecaster(options, {
    newWorker: (url) => new Worker(url, { type: 'module', name: 'leo-abr' }),
    baseUrl: () => globalThis.document?.baseURI,
    defaultWorkerUrl: () => new URL(/* @vite-ignore */ './leo-abr.onnx-worker.js', import.meta.url).href,
    nowMs: () => performance.now(),
    every(ms, callback) {
      const timer = setInterval(callback, ms);
      return () => clearInterval(timer);
    },
  });
}
