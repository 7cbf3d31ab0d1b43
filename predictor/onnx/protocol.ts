/** What the page and the Worker say to each other. */

/** Where the Worker finds what it needs: absolute. */
export interface ModelUrls {
  /** The `.onnx` file. */
  modelUrl: string;
  /** onnxruntime-web's module of its `/wasm` build. */
  runtimeUrl: string;
  /** onnxruntime-web's `.wasm` file of the same version. */
  wasmUrl: string;
}

/** What the page goes by of a model's card. */
export interface ModelSummary {
  name: string;
  /** Names of `FEATURES`, in the order of the input. */
  features: readonly string[];
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  rankCorrelation: number;
}

export type ToWorker =
  /** May come first, once: what is small is fetched and run, the `.wasm` waits for `load`. Not answered. */
  | ({ kind: 'prepare' } & ModelUrls)
  /** Comes once, before anything else but `prepare`. */
  | ({ kind: 'load' } & ModelUrls)
  /** One at a time, after `ready`. `features` in the order of the card. */
  | { kind: 'evaluate'; id: number; features: Float32Array };

export type FromWorker =
  /** The model is loaded, fits its card (which was checked; as JSON, for few pages read it) and has been warmed up. */
  | { kind: 'ready'; model: ModelSummary; card: string }
  /** `quantiles`: `[step * levels + level]`; `tookMs`: the inference alone. */
  | { kind: 'evaluated'; id: number; quantiles: Float32Array; tookMs: number }
  /** Nothing more is to be expected. */
  | { kind: 'failed'; message: string };
