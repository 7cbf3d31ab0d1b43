/** The Worker's task: load a model, compare it with its card and evaluate it, with onnxruntime-web. */

import { InputError } from '../../abr/errors.ts';
import { CARD_KEY, type ModelCard, parseModelCard } from './model-card.ts';
import { onnxMetadata } from './onnx-metadata.ts';
import type { FromWorker, ModelSummary, ModelUrls, ToWorker } from './protocol.ts';

/** The used part of `onnxruntime-web/wasm`. */
export type Runtime = Pick<typeof import('onnxruntime-web/wasm'), 'env' | 'InferenceSession' | 'Tensor'>;

export interface InferenceOptions {
  importRuntime(url: string): Promise<Runtime>;
  /** Requests a file that the runtime will `fetch` later. */
  fetchAhead?: (url: string) => void;
  /** The content of the runtime's `.wasm` file, if the runtime cannot fetch it. */
  wasmBinary?: Uint8Array;
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

/** The largest difference to the card's example; float32 evaluations differ by about 1e-6. */
const TOLERANCE = 1e-4;
/** Evaluations before the model is ready: the first ones wait for memory and compilation. */
const WARM_UP_RUNS = 20;

/** Responds to the messages of `scope`. */
export function serveInference(scope: MessageScope, options: InferenceOptions): void {
  let prepared: Promise<Prepared> | undefined;
  let loading: Promise<LoadedModel> | undefined;

  async function answer(message: ToWorker): Promise<FromWorker | undefined> {
    if (message.kind === 'prepare') {
      prepared = prepare(message, options);
      // `load` reports a failure.
      prepared.catch(() => {});
      return undefined;
    }
    if (message.kind === 'load') {
      loading = loadModel(message, options, prepared);
      const { card } = await loading;
      return { kind: 'ready', model: summaryOf(card), card: JSON.stringify(card) };
    }
    if (loading === undefined) throw new Error('expected load before evaluate');
    const { id, features } = message;
    const model = await loading;
    const beginMs = performance.now();
    const quantiles = await model.evaluate(features);
    return { kind: 'evaluated', id, quantiles, tookMs: performance.now() - beginMs };
  }

  scope.addEventListener('message', ({ data }) => {
    answer(data).then(
      (reply) => {
        if (reply !== undefined) scope.postMessage(reply);
      },
      (error: unknown) => {
        scope.postMessage({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
      },
    );
  });
}

function summaryOf({ name, input, output, rankCorrelation }: ModelCard): ModelSummary {
  const { stepEndsSeconds, levels } = output;
  return { name, features: input.features.map((feature) => feature.name), stepEndsSeconds, levels, rankCorrelation };
}

/** Everything except the `.wasm`, which is fifty times as large. */
type Prepared = [runtime: Runtime, model: Uint8Array];

function prepare({ runtimeUrl, modelUrl }: ModelUrls, options: InferenceOptions): Promise<Prepared> {
  return Promise.all([options.importRuntime(runtimeUrl), fetchBytes(modelUrl, options)]);
}

/** Rejects for a missing file, a file that is not a model, and a card that does not fit the model or this version. */
export async function loadModel(
  urls: ModelUrls,
  options: InferenceOptions,
  prepared?: Promise<Prepared>,
): Promise<LoadedModel> {
  const { modelUrl, wasmUrl } = urls;
  options.fetchAhead?.(wasmUrl);
  const [runtime, bytes] = await (prepared ?? prepare(urls, options));
  const json = onnxMetadata(bytes).get(CARD_KEY);
  if (json === undefined) throw new InputError(modelUrl, `a model card in its metadata (${CARD_KEY})`, undefined);
  const card = parseModelCard(json);

  const { env, InferenceSession, Tensor } = runtime;
  env.logLevel = 'error';
  // More threads would need a cross-origin isolated page, and a proxy a second Worker.
  env.wasm.numThreads = 1;
  env.wasm.proxy = false;
  env.wasm.wasmPaths = { wasm: wasmUrl };
  if (options.wasmBinary !== undefined) env.wasm.wasmBinary = options.wasmBinary;
  const session = await InferenceSession.create(bytes, { executionProviders: ['wasm'] });
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
  if (!response.ok) throw new Error(`${url}: expected a response with success, got ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
