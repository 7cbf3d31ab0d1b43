/** `--fold-models`: which model to use for which recording group, so that none is judged on what it learnt from. */

import { dirname, resolve } from 'node:path';
import { InputError } from '../abr/errors.ts';
import type { ModelFile } from '../predictor/built-in/model-file.ts';
import { parseModel } from '../predictor/built-in/parse-model.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { Trace } from '../replay/trace.ts';
import { readJson } from './results-file.ts';

/**
 * The models by recording group, as `leo-abr train` writes them, from `{"<recording group>": "<model file>", ...}`; file
 * names count from the map's folder. `InputError` for a map or a model that cannot be used.
 */
export function readFoldModels(file: string): Record<string, ModelFile> {
  const json = readJson(file, '--fold-models');
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InputError(file, 'an object from recording group to model file', json);
  }
  return Object.fromEntries(
    Object.entries(json).map(([group, name]) => {
      if (typeof name !== 'string' || name === '') {
        throw new InputError(placeOf({ file, field: group }), 'the name of a model file', name);
      }
      return [group, readModel(resolve(dirname(file), name))];
    }),
  );
}

function readModel(file: string): ModelFile {
  const model = readJson(file, '--fold-models') as ModelFile;
  parseModel(model, file);
  return model;
}

/** A group without a model of its own would be judged by the shipped one, which has learnt from it. */
export function requireModelOfEachGroup(
  models: Readonly<Record<string, ModelFile>>,
  traces: readonly Trace[],
  file: string,
): void {
  for (const { metadata } of traces) {
    if (models[metadata.recordingGroup] !== undefined) continue;
    throw new InputError(
      placeOf({ file, field: metadata.recordingGroup }),
      'a model for each recording group of the traces',
      undefined,
      'none for this one',
    );
  }
}
