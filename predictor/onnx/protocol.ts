/** What the page and the Worker say to each other. */

import type { ModelCard } from './model-card.ts';

/** Where the Worker finds what it needs: absolute. */
export interface ModelUrls {
  /** The `.onnx` file. */
  modelUrl: string;
  /** onnxruntime-web's module of its `/wasm` build. */
  runtimeUrl: string;
  /** onnxruntime-web's `.wasm` file of the same version. */
  wasmUrl: string;
}

export type ToWorker =
  /** Comes first, once. */
  | ({ kind: 'load' } & ModelUrls)
  /** One at a time, after `ready`. `features` in the order of the card. */
  | { kind: 'evaluate'; id: number; features: Float32Array };

export type FromWorker =
  /** The model is loaded, fits its card and has been warmed up. */
  | { kind: 'ready'; card: ModelCard }
  /** `quantiles`: `[step * levels + level]`; `tookMs`: the inference alone. */
  | { kind: 'evaluated'; id: number; quantiles: Float32Array; tookMs: number }
  /** Nothing more is to be expected. */
  | { kind: 'failed'; message: string };
