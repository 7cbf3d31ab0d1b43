/** The thread of `onnx-evaluator.ts`: evaluates a model on request. */

import { workerData } from 'node:worker_threads';
import { loadOnnx } from '../onnx-model.ts';
import type { OnnxAnswer, OnnxThreadSetup } from './onnx-evaluator.ts';

const { name, bytes, runtimeFolder, port, answered } = workerData as OnnxThreadSetup;
const loading = loadOnnx(bytes, name, runtimeFolder);
// Every request reports it.
loading.catch(() => {});

port.on('message', async (features: Float32Array) => {
  let answer: OnnxAnswer;
  try {
    answer = { quantiles: await (await loading).evaluate(features) };
  } catch (error) {
    answer = { fault: String(error) };
  }
  port.postMessage(answer);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
});
