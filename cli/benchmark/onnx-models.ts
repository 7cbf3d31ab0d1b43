/** Reads and checks the ONNX models that algorithms name: `mpc-l@onnx`, `mpc-l@onnx:<file>`. */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { OnnxName } from '../../replay/algorithms.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { loadOnnx, type OnnxModels } from '../../replay/onnx-model.ts';
import { bytesOf } from '../quality/pieces.ts';
import { builtFolder, TOOL_FOLDER } from '../tool.ts';

/** Resolves to undefined without names. Rejects with an `InputError` if a file is unreadable or a model fails. */
export async function onnxModels(names: readonly OnnxName[], flag: string): Promise<OnnxModels | undefined> {
  if (names.length === 0) return undefined;
  const runtimeFolder = runtimeOf(names[0]!, flag);
  const files: Record<string, Uint8Array> = {};
  for (const name of new Set(names)) {
    const file = name === 'onnx' ? join(builtFolder('models', SHIPPED, 'predictor/models'), SHIPPED) : name.slice(5);
    const bytes = bytesOf({ file });
    files[name] = bytes;
    await loadOnnx(bytes, 'model', runtimeFolder).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw new InputError(file, 'a model that onnxruntime-web runs', error);
      const { field, expected, received } = error;
      throw new InputError(placeOf({ file, field }), expected, received);
    });
  }
  return { files, runtimeFolder, threadFile: join(TOOL_FOLDER, 'onnx-thread.js') };
}

const SHIPPED = 'built-in.onnx';

/** onnxruntime-web is an optional peer of this package. */
function runtimeOf(name: OnnxName, flag: string): string {
  try {
    return dirname(createRequire(import.meta.url).resolve('onnxruntime-web/wasm'));
  } catch (error) {
    throw new InputError(flag, `npm install onnxruntime-web, for @${name}`, error, 'no such package');
  }
}
