/** ONNX models of a replay, and onnxruntime-web in Node, with which they are checked and simulated. Node only. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type LoadedModel, loadModel, type Runtime } from '../predictor/onnx/inference.ts';

/** onnxruntime-web's module and its WebAssembly, in its folder `dist`. */
export const RUNTIME_FILE = 'ort.wasm.bundle.min.mjs';
export const WASM_FILE = 'ort-wasm-simd-threaded.wasm';

export interface OnnxModels {
  /** The files' bytes by the forecaster's name (`onnx`, `onnx:<file>`). */
  files: Readonly<Record<string, Uint8Array>>;
  runtimeFolder: string;
  /** The built `simulator/onnx-thread.ts`, which the simulator needs. */
  threadFile: string;
}

/** Loads a model and evaluates its card's example, as a page's Worker does. `name` is for errors. */
export function loadOnnx(bytes: Uint8Array, name: string, runtimeFolder: string): Promise<LoadedModel> {
  const urls = { modelUrl: name, runtimeUrl: pathToFileURL(join(runtimeFolder, RUNTIME_FILE)).href, wasmUrl: '' };
  return loadModel(urls, {
    async importRuntime(url) {
      const runtime: Runtime = await import(/* @vite-ignore */ url);
      runtime.env.wasm.wasmBinary = readFileSync(join(runtimeFolder, WASM_FILE));
      return runtime;
    },
    fetch: async () => ({ ok: true, status: 200, arrayBuffer: async () => new Uint8Array(bytes).buffer }),
  });
}
