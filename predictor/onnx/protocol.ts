/** The messages between page and Worker. */

import type { ModelOutline } from '../forecast/model-outline.ts';

/** Absolute URLs. */
export interface ModelUrls {
  /** The `.onnx` file. */
  modelUrl: string;
  /** onnxruntime-web's module of its `/wasm` build. */
  runtimeUrl: string;
  /** onnxruntime-web's `.wasm` file of the same version. */
  wasmUrl: string;
}

/** The part of a model's card that the page uses. */
export interface ModelSummary extends ModelOutline {
  name: string;
  /** Names of `FEATURES`, in the order of the input. */
  features: readonly string[];
}

export type ToWorker =
  /** Optional first message: fetch and run all but the `.wasm`. No response. */
  | ({ kind: 'prepare' } & ModelUrls)
  /** Once, before `evaluate`. */
  | ({ kind: 'load' } & ModelUrls)
  /** One at a time, after `ready`. `features` in the order of the card. */
  | { kind: 'evaluate'; id: number; features: Float32Array };

export type FromWorker =
  /** The model is loaded, fits its validated card (as JSON, because few pages read it) and is warmed up. */
  | { kind: 'ready'; model: ModelSummary; card: string }
  /** `quantiles`: `[step * levels + level]`; `tookMs`: the inference only. */
  | { kind: 'evaluated'; id: number; quantiles: Float32Array; tookMs: number }
  /** The last message. */
  | { kind: 'failed'; message: string };
