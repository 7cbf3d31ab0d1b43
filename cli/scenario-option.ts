/** `--scenario`: the name of a scenario, or a JSON file (form: `replay/scenario-file.ts`). */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../abr/errors.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { ResolvedScenario } from '../replay/results.ts';
import { parseScenario, resolveScenario, scenarioNamed } from '../replay/scenario-file.ts';
import { readInput } from './results-file.ts';

/** The scenario with its segment sizes. A value that ends in `.json` or contains a `/` is a file. */
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
