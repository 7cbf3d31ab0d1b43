/** What `--algorithms` may name in a browser. */

import { InputError } from '../../abr/errors.ts';
import { ALGORITHM_NAMES } from '../../abr/index.ts';
import { type ForecasterName, splitAlgorithm } from '../forecasters.ts';
import { isOwnAlgorithm } from '../own-algorithm.ts';

export interface BrowserAlgorithm {
  /** A controller that the plugin runs, of abr/ or a file; undefined where dash.js's own rules decide. */
  controller?: string;
  /** Its forecaster, where it has one. */
  forecaster?: ForecasterName;
}

/** dash.js as it comes, throughput and BOLA by turns. */
const DASHJS_OWN = 'dynamic';

export const BROWSER_ALGORITHMS: readonly string[] = [...ALGORITHM_NAMES, DASHJS_OWN];

/**
 * The algorithm of a name: `dynamic`, a controller of abr/ or a file, or one with a forecaster
 * (`<controller>@<forecaster>`). Whether there is the file is for the caller to know.
 */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  if (name === DASHJS_OWN) return {};
  const { controller, forecaster } = splitAlgorithm(name, field);
  if (!isOwnAlgorithm(controller) && !ALGORITHM_NAMES.includes(controller)) {
    throw new InputError(field, `one of ${BROWSER_ALGORITHMS.join(', ')}, or a file (./mine.ts)`, name);
  }
  return { controller, ...(forecaster !== undefined && { forecaster }) };
}
