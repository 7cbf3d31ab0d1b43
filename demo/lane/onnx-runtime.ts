/** ONNX forecasters of the shipped model with the page's copy of onnxruntime-web. This file loads when a lane first uses an ONNX model. */

import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import runtimeUrl from 'onnxruntime-web/wasm?url';
import modelUrl from '../../predictor/models/built-in.onnx?url';
import { createOnnxForecaster, type OnnxForecaster } from '../../predictor/onnx/index.ts';
import workerUrl from '../../predictor/onnx/worker.ts?worker&url';

export function onnxForecaster(): OnnxForecaster {
  return createOnnxForecaster({ modelUrl, workerUrl, runtimeUrl, wasmUrl });
}
