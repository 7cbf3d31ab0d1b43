/** The names that `--algorithms` accepts for a browser. */

import { InputError } from '../../abr/errors.ts';
import { ALGORITHM_NAMES } from '../../abr/index.ts';
import { type ForecasterName, splitAlgorithm } from '../forecasters.ts';
import { isOwnAlgorithm } from '../own-algorithm.ts';

interface BrowserAlgorithm {
  /** A controller of abr/ or a file; undefined: dash.js's own rules. */
  controller?: string;
  forecaster?: ForecasterName;
}

/** dash.js with its default rules, which alternate between throughput and BOLA. */
const DASHJS_OWN = 'dynamic';

export const BROWSER_ALGORITHMS: readonly string[] = [...ALGORITHM_NAMES, DASHJS_OWN];

/**
 * The algorithm of a name: `dynamic`, a controller of abr/ or a file, or one with a forecaster
 * (`<controller>@<forecaster>`). Does not check that the file exists.
 */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  if (name === DASHJS_OWN) return {};
  const { controller, forecaster } = splitAlgorithm(name, field);
  if (!isOwnAlgorithm(controller) && !ALGORITHM_NAMES.includes(controller)) {
    throw new InputError(field, `one of ${BROWSER_ALGORITHMS.join(', ')}, or a file (./mine.ts)`, name);
  }
  return { controller, ...(forecaster !== undefined && { forecaster }) };
}
