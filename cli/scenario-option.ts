/** `--scenario`: a name, or a JSON file of the same form. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../abr/errors.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { ResolvedScenario } from '../replay/results.ts';
import { parseScenario, resolveScenario, scenarioNamed } from '../replay/scenario-file.ts';
import { readInput } from './results-file.ts';

/** The scenario with its sizes. Whatever ends in `.json` or holds a `/` is a file. */
export function scenarioOption(value: string): ResolvedScenario {
  if (!value.endsWith('.json') && !value.includes('/')) return resolveScenario(scenarioNamed(value));
  return parseScenario(readInput(value, '--scenario'), {
    file: value,
    readBeside: (path) => {
      const beside = join(dirname(value), path);
      try {
        return readFileSync(beside, 'utf8');
      } catch (error) {
        throw new InputError(placeOf({ file: value, field: 'sizesFile' }), 'a readable file', error);
      }
    },
  });
}
