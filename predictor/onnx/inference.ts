/** What goes on in the Worker: a model is loaded, compared with its card and evaluated, by onnxruntime-web. */

import { InputError } from '../../abr/errors.ts';
import { CARD_KEY, type ModelCard, parseModelCard } from './model-card.ts';
import { onnxMetadata } from './onnx-metadata.ts';
import type { FromWorker, ModelSummary, ModelUrls, ToWorker } from './protocol.ts';

/** `onnxruntime-web/wasm`, as far as it is needed here. */
export type Runtime = Pick<typeof import('onnxruntime-web/wasm'), 'env' | 'InferenceSession' | 'Tensor'>;

export interface InferenceOptions {
  importRuntime(url: string): Promise<Runtime>;
  /** Asks for a file that the runtime will `fetch`. Default: nobody does. */
  fetchAhead?: (url: string) => void;
  /** The runtime's `.wasm` file itself, for where the runtime cannot fetch it. */
  wasmBinary?: Uint8Array;
  /** Default: the global `fetch`. */
  fetch?: (url: string) => Promise<Pick<Response, 'ok' | 'status' | 'arrayBuffer'>>;
}

/** Where messages come from and go to: a Worker's global scope. */
export interface MessageScope {
  addEventListener(type: 'message', listener: (event: { data: ToWorker }) => void): void;
  postMessage(message: FromWorker): void;
}

export interface LoadedModel {
  readonly card: ModelCard;
  /** Quantiles `[step * levels + level]` for features in the order of the card. */
  evaluate(features: Float32Array): Promise<Float32Array>;
}

/** Largest difference to the card's own example; one float32 evaluation differs from another by about 1e-6. */
const TOLERANCE = 1e-4;
/** Evaluations before the model counts as ready: the first ones wait for memory and for compiled code. */
const WARM_UP_RUNS = 20;

/** Answers the messages of `scope`. */
export function serveInference(scope: MessageScope, options: InferenceOptions): void {
  let prepared: Promise<Prepared> | undefined;
  let loading: Promise<LoadedModel> | undefined;

  async function answer(message: ToWorker): Promise<FromWorker | undefined> {
    if (message.kind === 'prepare') {
      prepared = prepare(message, options);
      // Who loads the model is told why it failed.
      prepared.catch(() => {});
      return undefined;
    }
    if (message.kind === 'load') {
      loading = loadModel(message, options, prepared);
      const { card } = await loading;
      return { kind: 'ready', model: summaryOf(card), card: JSON.stringify(card) };
    }
    if (loading === undefined) throw new Error('asked before it was told to load anything');
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

/** All but the `.wasm`, which is fifty times as large. */
type Prepared = [runtime: Runtime, model: Uint8Array];

function prepare({ runtimeUrl, modelUrl }: ModelUrls, options: InferenceOptions): Promise<Prepared> {
  return Promise.all([options.importRuntime(runtimeUrl), fetchBytes(modelUrl, options)]);
}

/** Rejects with what is wrong: a file that is missing, is no model, has a card that does not fit it or this version. */
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
  // More threads would need a page that is isolated from other origins; a proxy, a second Worker.
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
        throw new InputError(`model output ${output.name}[${i}]`, `${expected} as its card has it`, quantiles[i]);
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
