/** The options of the ONNX forecaster, their check, and their URLs. */

import { check, requireObject, requireText } from '../../abr/errors.ts';
import type { ModelSessionOptions } from '../forecast/quantile-forecaster.ts';

/** URLs may be relative to the page. All must have the page's origin, or allow it by CORS. */
export interface OnnxForecasterOptions extends ModelSessionOptions {
  /** The model: an ONNX file with a model card, such as `leo-abr/models/built-in.onnx`. */
  modelUrl: string | URL;
  /**
   * The module of onnxruntime-web's `/wasm` build: `ort.wasm.bundle.min.mjs`, or `onnxruntime-web/wasm` resolved.
   * Default: the package onnxruntime-web beside the package leo-abr.
   */
  runtimeUrl?: string | URL | undefined;
  /** `ort-wasm-simd-threaded.wasm` of the same onnxruntime-web. Default: beside the runtime. */
  wasmUrl?: string | URL | undefined;
  /** `leo-abr/onnx-worker`. Default: `leo-abr.onnx-worker.js` beside this module. */
  workerUrl?: string | URL | undefined;
  /** With false, nothing is loaded before `load()`. Default true. */
  loadAtOnce?: boolean | undefined;
}

/** Absolute URLs. */
export interface ModelUrls {
  /** The `.onnx` file. */
  modelUrl: string;
  /** onnxruntime-web's module of its `/wasm` build. */
  runtimeUrl: string;
  /** onnxruntime-web's `.wasm` file of the same version. */
  wasmUrl: string;
}

const WASM_FILE = 'ort-wasm-simd-threaded.wasm';

/**
 * Absolute URLs. Defaults lie beside this module in the layout of `node_modules`, where bundlers find them and make
 * assets of them.
 */
export function urlsOf({
  modelUrl,
  runtimeUrl,
  wasmUrl,
  workerUrl,
}: OnnxForecasterOptions): ModelUrls & { workerUrl: string } {
  const base = typeof document === 'object' ? document.baseURI : undefined;
  const absolute = (url: string | URL) => {
    try {
      return new URL(url, base).href;
    } catch {
      throw new Error(`${url} is no URL${base ? '' : ', or a relative one without a page'}`);
    }
  };
  const runtime = absolute(
    runtimeUrl ?? new URL(/* @vite-ignore */ '../../onnxruntime-web/dist/ort.wasm.bundle.min.mjs', import.meta.url),
  );
  const wasm = runtimeUrl
    ? new URL(WASM_FILE, runtime)
    : new URL(/* @vite-ignore */ '../../onnxruntime-web/dist/ort-wasm-simd-threaded.wasm', import.meta.url);
  return {
    modelUrl: absolute(modelUrl),
    runtimeUrl: runtime,
    wasmUrl: absolute(wasmUrl ?? wasm),
    workerUrl: absolute(workerUrl ?? new URL(/* @vite-ignore */ './leo-abr.onnx-worker.js', import.meta.url)),
  };
}

const URL_FIELDS = ['modelUrl', 'runtimeUrl', 'wasmUrl', 'workerUrl'];
const SWITCHES = ['loadAtOnce', 'handover'];

export function checkOptions(options: OnnxForecasterOptions): void {
  for (const [name, value] of Object.entries<unknown>({ modelUrl: undefined, ...requireObject(options, 'options') })) {
    const field = `options.${name}`;
    const isSwitch = SWITCHES.includes(name);
    check(isSwitch || URL_FIELDS.includes(name), field, `one of ${[...URL_FIELDS, ...SWITCHES].join(', ')}`, value);
    if (value === undefined && name !== 'modelUrl') continue;
    if (isSwitch) check(typeof value === 'boolean', field, 'true or false', value);
    else if (!(value instanceof URL)) requireText(value, field, 'a URL');
  }
}
