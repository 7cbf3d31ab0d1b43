/** The messages between page and Worker. */

import type { ModelCard } from './model-card.ts';

/** Absolute URLs. */
export interface ModelUrls {
  /** The `.onnx` file. */
  modelUrl: string;
  /** onnxruntime-web's module of its `/wasm` build. */
  runtimeUrl: string;
  /** onnxruntime-web's `.wasm` file of the same version. */
  wasmUrl: string;
}

export type ToWorker =
  /** Once, before `evaluate`. */
  | ({ kind: 'load' } & ModelUrls)
  /** One at a time, after `ready`. `features` in the order of the card. */
  | { kind: 'evaluate'; features: Float32Array };

export type FromWorker =
  /** The model is loaded, fits its validated card and is warmed up. */
  | { kind: 'ready'; card: ModelCard }
  /** `quantiles`: `[step * levels + level]`. */
  | { kind: 'evaluated'; quantiles: Float32Array }
  /** The last message. */
  | { kind: 'failed'; message: string };
