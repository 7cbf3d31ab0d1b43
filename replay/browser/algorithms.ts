/** The names that `--algorithms` accepts for a browser. */

import { InputError } from '../../abr/errors.ts';
import { ALGORITHM_NAMES } from '../../abr/index.ts';
import { type CatchUp, DEFAULT_CATCH_UP } from '../catch-up.ts';
import { type ForecasterName, splitAlgorithm } from '../forecasters.ts';
import { isOwnAlgorithm } from '../own-algorithm.ts';

interface BrowserAlgorithm {
  /** A controller of abr/ or a file; undefined: dash.js's own rules. */
  controller?: string;
  /** dash.js's setting of the only rule to use. Default: its default rules. */
  rule?: string;
  forecaster?: ForecasterName;
  /** Of live streams. Absent where the controller sets the rate if it can; otherwise dash.js's default does. */
  catchUp?: CatchUp;
}

/** dash.js's default rules, which alternate between throughput and BOLA, and its rules for low latency. */
const DASHJS_OWN: Readonly<Record<string, Pick<BrowserAlgorithm, 'rule'> & Partial<CatchUp>>> = {
  dynamic: {},
  l2a: { rule: 'l2ARule' },
  lolp: { rule: 'loLPRule', law: 'lolp' },
};

export const BROWSER_ALGORITHMS: readonly string[] = [...ALGORITHM_NAMES, ...Object.keys(DASHJS_OWN)];

/**
 * The algorithm of a name: `dynamic`, `l2a`, `lolp`, a controller of abr/ or a file, or one of these with a catch-up
 * (`<controller>:fixed-slots`) or a forecaster (`<controller>@<forecaster>`). Does not check that the file exists.
 */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  const { controller, forecaster, catchUp } = splitAlgorithm(name, field);
  const own = DASHJS_OWN[controller];
  if (own !== undefined && forecaster === undefined) {
    const { rule, ...ofRule } = own;
    return { ...(rule && { rule }), catchUp: { ...DEFAULT_CATCH_UP, ...catchUp, ...ofRule } };
  }
  if (!isOwnAlgorithm(controller) && !ALGORITHM_NAMES.includes(controller)) {
    throw new InputError(field, `one of ${BROWSER_ALGORITHMS.join(', ')}, or a file (./mine.ts)`, name);
  }
  return { controller, ...(forecaster !== undefined && { forecaster }), ...(catchUp && { catchUp }) };
}
