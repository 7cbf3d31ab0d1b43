/**
 * Evaluates an ONNX model while the simulated clock stands: onnxruntime-web answers asynchronously, so it has a thread of
 * its own, and this one waits. Node only.
 */

import { existsSync } from 'node:fs';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { InputError } from '../../abr/errors.ts';
import type { EvaluatedModel } from '../../predictor/onnx/card-session.ts';
import { CARD_KEY, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';
import type { OnnxModels } from '../onnx-model.ts';

export interface OnnxThreadSetup extends Pick<OnnxModels, 'runtimeFolder'> {
  name: string;
  bytes: Uint8Array;
  port: MessagePort;
  /** Becomes 1 with an answer. */
  answered: Int32Array;
}

export type OnnxAnswer = { quantiles: Float32Array } | { fault: string };

/** An evaluation takes well under a millisecond, the first one some seconds. */
const TIMEOUT_MS = 60_000;

/** `name`: for errors. Throws an `InputError` for a file without a valid card. */
export function evaluatedModel(
  name: string,
  bytes: Uint8Array,
  { runtimeFolder, threadFile }: Omit<OnnxModels, 'files'>,
): EvaluatedModel {
  const json = onnxMetadata(bytes).get(CARD_KEY);
  if (json === undefined) throw new InputError(name, `a model card in its metadata (${CARD_KEY})`, undefined);
  if (!existsSync(threadFile)) throw new Error(`not built (npm run build:cli): no ${threadFile}`);
  const { port1, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData: OnnxThreadSetup = { name, bytes, runtimeFolder, port, answered };
  new Worker(threadFile, { workerData, transferList: [port] }).unref();
  return {
    card: parseModelCard(json),
    evaluate(features) {
      Atomics.store(answered, 0, 0);
      port1.postMessage(features);
      Atomics.wait(answered, 0, 0, TIMEOUT_MS);
      const { message } = (receiveMessageOnPort(port1) ?? {}) as { message?: OnnxAnswer };
      if (message && 'quantiles' in message) return message.quantiles;
      throw new Error(`${name}: ${message?.fault ?? `no answer of the model for ${TIMEOUT_MS / 1000} s`}`);
    },
  };
}
