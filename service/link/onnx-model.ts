/** Loads an ONNX model as a page does (predictor/onnx), but with the files of an installed onnxruntime-web. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { loadModel, type Runtime } from '../../predictor/onnx/inference.ts';
import { InProcessForecaster } from '../../predictor/onnx/onnx-session.ts';

const PACKAGE = 'onnxruntime-web';

/**
 * Rejects with a reason if the file cannot be read or is not a model, its card is missing or does not fit the model or
 * this version, or onnxruntime-web is not installed.
 */
export async function loadOnnxForecaster(file: string): Promise<InProcessForecaster> {
  const wasmFile = installedWasm();
  const model = await loadModel(
    { modelUrl: file, runtimeUrl: `${PACKAGE}/wasm`, wasmUrl: pathToFileURL(wasmFile).href },
    {
      wasmBinary: await readFile(wasmFile),
      importRuntime: (): Promise<Runtime> => import('onnxruntime-web/wasm'),
      async fetch(path) {
        const bytes = await readFile(path);
        const arrayBuffer = async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
        return { ok: true, status: 200, arrayBuffer };
      },
    },
  );
  return new InProcessForecaster(model, { newSubSecond: () => new SubSecond() });
}

function installedWasm(): string {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/ort-wasm-simd-threaded.wasm`);
  } catch (cause) {
    throw new Error(`expected ${PACKAGE} to be installed (npm install ${PACKAGE}), got none`, { cause });
  }
}
