/** `--fold-models`: which model to use for which recording group, so that none is judged on what it learnt from. */

import { dirname, resolve } from 'node:path';
import { MODEL_FORMAT, type ModelFile } from '../predictor/built-in/model-file.ts';
import { type AnyModelFile, parseAnyModel } from '../predictor/compared/model-of-any-kind.ts';
import { InputError, quoted } from '../replay/formats/input-error.ts';
import { readInput } from './results-file.ts';

/**
 * The models by recording group, of any kind that `leo-abr train` writes, from `{"<recording group>": "<model file>", ...}`;
 * file names count from the map's folder. `InputError` for a map or a model that cannot be used.
 */
export function readFoldModels(file: string): Record<string, AnyModelFile> {
  const text = readInput(file, '--fold-models');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputError({ file, expected: 'a JSON object', got: (error as Error).message }, { cause: error });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InputError({ file, expected: 'an object from recording group to model file', got: quoted(json) });
  }
  return Object.fromEntries(
    Object.entries(json).map(([group, name]) => {
      if (typeof name !== 'string' || name === '') {
        throw new InputError({ file, field: group, expected: 'the name of a model file', got: quoted(name) });
      }
      return [group, readModel(resolve(dirname(file), name))];
    }),
  );
}

/** `readFoldModels` for those that play or judge the built-in forecaster alone; `InputError` for a model of another kind. */
export function readBuiltInFoldModels(file: string): Record<string, ModelFile> {
  return Object.fromEntries(
    Object.entries(readFoldModels(file)).map(([group, model]) => {
      if (model.format === MODEL_FORMAT) return [group, model];
      throw new InputError({
        file,
        field: group,
        expected: `a model of the built-in forecaster (${quoted(MODEL_FORMAT)}); others are for leo-abr simulate alone`,
        got: quoted(model.format),
      });
    }),
  );
}

function readModel(file: string): AnyModelFile {
  try {
    const model: AnyModelFile = JSON.parse(readInput(file, '--fold-models'));
    parseAnyModel(model);
    return model;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(
      { file, expected: 'a model of leo-abr train', got: (error as Error).message },
      { cause: error },
    );
  }
}
