/** `--fold-models`: a model for each recording group, so that no model is evaluated on its training data. */

import { dirname, resolve } from 'node:path';
import { InputError } from '../abr/errors.ts';
import type { ModelFile } from '../predictor/built-in/model-file.ts';
import { parseModel } from '../predictor/built-in/parse-model.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { Trace } from '../replay/trace.ts';
import { readJson } from './results-file.ts';

/**
 * The models by recording group, from `{"<recording group>": "<model file>", ...}`, as `leo-abr train --folds` writes
 * it; file names are relative to the map's folder. Throws an `InputError` for an unusable map or model.
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

/** Throws for a group without a model: the shipped one would take its place, and may have been trained on the group. */
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
