/** The thread of `onnx-evaluator.ts`: loads a model, and evaluates it on request. */

import { parentPort, workerData } from 'node:worker_threads';
import { loadOnnx } from '../../onnx-model.ts';
import type { OnnxAnswer, OnnxThreadSetup } from './onnx-evaluator.ts';

const { name, bytes, runtimeFolder, port, answered } = workerData as OnnxThreadSetup;
const model = await loadOnnx(bytes, name, runtimeFolder);

port.on('message', async (features: Float32Array) => {
  const answer: OnnxAnswer = await model.evaluate(features).then(
    (quantiles) => ({ quantiles }),
    (error: unknown) => ({ fault: String(error) }),
  );
  port.postMessage(answer);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
});
parentPort!.postMessage(model.card);
