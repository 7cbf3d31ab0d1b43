/** Evaluates ONNX models, each in a thread that answers while the calling thread waits. Node only. */

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { ForecastModel } from '../../../predictor/forecast/quantile-forecaster.ts';
import { cardModel, type ModelCard } from '../../../predictor/onnx/model-card.ts';
import type { OnnxModels } from '../../onnx-model.ts';

export interface OnnxThreadSetup extends Pick<OnnxModels, 'runtimeFolder'> {
  name: string;
  bytes: Uint8Array;
  port: MessagePort;
  answered: Int32Array;
}

export type OnnxAnswer = { quantiles: Float32Array } | { fault: string };

/** An evaluation takes well under a millisecond. */
const TIMEOUT_MS = 60_000;

/** The loaded models by the forecaster's name. Rejects if a model cannot be loaded. */
export async function evaluatedModels(onnx: OnnxModels | undefined): Promise<ReadonlyMap<string, ForecastModel>> {
  const files = Object.entries(onnx?.files ?? {});
  const loading = files.map(async ([name, bytes]) => [name, await evaluated(name, bytes, onnx!)] as const);
  return new Map(await Promise.all(loading));
}

async function evaluated(name: string, bytes: Uint8Array, onnx: OnnxModels): Promise<ForecastModel> {
  const { runtimeFolder, threadFile } = onnx;
  if (!existsSync(threadFile)) throw new Error(`not built (npm run build:cli): no ${threadFile}`);
  const { port1, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData: OnnxThreadSetup = { name, bytes, runtimeFolder, port, answered };
  const thread = new Worker(threadFile, { workerData, transferList: [port] });
  const [card]: ModelCard[] = await once(thread, 'message');
  thread.unref();
  const model = cardModel(card!);
  return {
    ...model,
    evaluate(features) {
      Atomics.store(answered, 0, 0);
      port1.postMessage(model.inputsOf(features));
      // The notification of the previous answer may come only now.
      while (Atomics.load(answered, 0) === 0 && Atomics.wait(answered, 0, 0, TIMEOUT_MS) !== 'timed-out');
      const { message } = (receiveMessageOnPort(port1) ?? {}) as { message?: OnnxAnswer };
      if (message && 'quantiles' in message) return model.valuesOf(message.quantiles);
      throw new Error(`${name}: ${message?.fault ?? `the model has not answered for ${TIMEOUT_MS / 1000} s`}`);
    },
  };
}
