/** The Worker's task with onnxruntime-web: load a model, compare it with its card, and evaluate it. */

import { describeValue, InputError } from '../../abr/errors.ts';
import { CARD_KEY, type ModelCard, parseModelCard } from './model-card.ts';
import { onnxMetadata } from './onnx-metadata.ts';
import type { ModelUrls } from './onnx-options.ts';

export type ToWorker =
  /** The first message. */
  | ({ kind: 'load' } & ModelUrls)
  /** After `ready`, one at a time. `features`: in the order of the card. */
  | { kind: 'evaluate'; features: Float32Array };

export type FromWorker =
  /** The model is loaded, fits its valid card and is warmed up. */
  | { kind: 'ready'; card: ModelCard }
  /** `quantiles`: `[step * levels + level]`. */
  | { kind: 'evaluated'; quantiles: Float32Array }
  /** The last message. */
  | { kind: 'failed'; message: string };

/** The used part of `onnxruntime-web/wasm`. */
export type Runtime = Pick<typeof import('onnxruntime-web/wasm'), 'env' | 'InferenceSession' | 'Tensor'>;

export interface InferenceOptions {
  importRuntime(url: string): Promise<Runtime>;
  /** Default: the global `fetch`. */
  fetch?: (url: string) => Promise<Pick<Response, 'ok' | 'status' | 'arrayBuffer'>>;
}

/** The used part of a Worker's global scope. */
export interface MessageScope {
  addEventListener(type: 'message', listener: (event: { data: ToWorker }) => void): void;
  postMessage(message: FromWorker): void;
}

export interface LoadedModel {
  readonly card: ModelCard;
  /** Quantiles `[step * levels + level]` for features in the order of the card. */
  evaluate(features: Float32Array): Promise<Float32Array>;
}

/** Tolerated difference to the card's example. float32 evaluations differ by about 1e-6. */
const TOLERANCE = 1e-4;
/** Evaluations before the model is ready, because the first evaluations wait for memory and compilation. */
const WARM_UP_RUNS = 20;

export function serveInference(scope: MessageScope, options: InferenceOptions): void {
  let loading: Promise<LoadedModel> | undefined;

  async function answer(message: ToWorker): Promise<FromWorker> {
    if (message.kind === 'load') {
      loading = loadModel(message, options);
      return { kind: 'ready', card: (await loading).card };
    }
    if (loading === undefined) throw new Error('expected load before evaluate');
    const model = await loading;
    return { kind: 'evaluated', quantiles: await model.evaluate(message.features) };
  }

  scope.addEventListener('message', ({ data }) => {
    answer(data)
      .catch(
        (error): FromWorker => ({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
      )
      .then((reply) => scope.postMessage(reply));
  });
}

/** Rejects for a missing file, other bytes than a model, and a card that does not fit the model or this version. */
export async function loadModel(urls: ModelUrls, options: InferenceOptions): Promise<LoadedModel> {
  const { runtimeUrl, modelUrl, wasmUrl } = urls;
  const [runtime, bytes] = await Promise.all([
    options.importRuntime(runtimeUrl).catch((error) => {
      throw new Error(`${runtimeUrl}: ${describeValue(error)}`);
    }),
    fetchBytes(modelUrl, options),
  ]);
  const json = onnxMetadata(bytes).get(CARD_KEY);
  if (json === undefined) throw new InputError('model', `a model card in its metadata (${CARD_KEY})`, undefined);
  const card = parseModelCard(json);

  const { env, InferenceSession, Tensor } = runtime;
  env.logLevel = 'error';
  // More threads would need a cross-origin isolated page, and a proxy a second Worker.
  env.wasm.numThreads = 1;
  env.wasm.proxy = false;
  env.wasm.wasmPaths = { wasm: wasmUrl };
  const session = await InferenceSession.create(bytes, { executionProviders: ['wasm'] }).catch((error) => {
    // onnxruntime-web's error for an unusable WebAssembly file does not name the file.
    throw /backend/.test(describeValue(error)) ? new Error(`${wasmUrl}: ${describeValue(error)}`) : error;
  });
  const { input, output } = card;
  if (!session.inputNames.includes(input.name)) throw new InputError('model input', input.name, session.inputNames[0]);

  const size = output.stepEndsSeconds.length * output.levels.length;
  const evaluate = async (features: Float32Array): Promise<Float32Array> => {
    const outputs = await session.run({ [input.name]: new Tensor('float32', features, [1, features.length]) });
    const quantiles = outputs[output.name]?.data;
    if (!(quantiles instanceof Float32Array) || quantiles.length !== size) {
      throw new InputError(`model output ${output.name}`, `${size} float32 numbers`, quantiles?.length);
    }
    return quantiles;
  };

  const example = Float32Array.from(card.check.features);
  for (let run = 0; run < WARM_UP_RUNS; run++) {
    const quantiles = await evaluate(example);
    card.check.quantiles.forEach((expected, i) => {
      if (!(Math.abs(quantiles[i]! - expected) <= TOLERANCE)) {
        throw new InputError(`model output ${output.name}[${i}]`, `${expected}, as in its card`, quantiles[i]);
      }
    });
  }
  return { card, evaluate };
}

async function fetchBytes(url: string, { fetch: get = (address) => fetch(address) }: InferenceOptions) {
  const response = await get(url);
  if (!response.ok) throw new Error(`expected a response with success, got status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
