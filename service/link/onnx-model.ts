/**
 * A model in ONNX for the service: the same file and the same code as in a page (predictor/onnx), on the files of an installed
 * onnxruntime-web instead of their URLs.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { InProcessForecaster } from '../../predictor/onnx/in-process-forecaster.ts';
import { loadModel, type Runtime } from '../../predictor/onnx/inference.ts';

const PACKAGE = 'onnxruntime-web';

/**
 * A forecaster by the model of a file. Rejects, saying what is wrong, where the file cannot be read, is no model, has no card
 * or one that does not fit it or this version, or where onnxruntime-web is not installed.
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
  return new InProcessForecaster(model);
}

function installedWasm(): string {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/ort-wasm-simd-threaded.wasm`);
  } catch (cause) {
    throw new Error(`expected ${PACKAGE} to be installed (npm install ${PACKAGE}), got none`, { cause });
  }
}
