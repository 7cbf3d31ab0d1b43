/** `--fold-models`: which model to use for which recording group, so that none is judged on what it learnt from. */

import { InputError, quoted } from '../replay/formats/input-error.ts';
import { readInput } from './results-file.ts';

/** Recording group to model file, from `{"<recording group>": "<model file>", ...}`. */
export function readFoldModels(file: string): Map<string, string> {
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
  return new Map(
    Object.entries(json).map(([group, model]) => {
      if (typeof model === 'string' && model !== '') return [group, model];
      throw new InputError({ file, field: group, expected: 'the name of a model file', got: quoted(model) });
    }),
  );
}
