/** What `--algorithms` may name in a browser. */

import { ALGORITHM_NAMES } from '../../abr/index.ts';
import { InputError, quoted } from '../formats/input-error.ts';

export interface BrowserAlgorithm {
  /** A controller of abr/ that the plugin runs; undefined where dash.js's own rules decide. */
  controller?: string;
  /** Its forecaster, where it has one. */
  forecaster?: 'oracle';
}

/** dash.js as it comes, throughput and BOLA by turns. */
const DASHJS_OWN = 'dynamic';
const ORACLE = 'oracle';
/** Controllers that have a forecaster without being asked for one. */
const OWN_FORECASTER: Readonly<Record<string, 'oracle'>> = { 'mpc-o': ORACLE };

export const BROWSER_ALGORITHMS: readonly string[] = [...ALGORITHM_NAMES, DASHJS_OWN];

/** The algorithm of a name: `dynamic`, a controller of abr/, or one with the oracle (`<controller>@oracle`). */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  if (name === DASHJS_OWN) return {};
  const [controller, forecaster, ...rest] = name.split('@');
  if (!ALGORITHM_NAMES.includes(controller!) || rest.length > 0) {
    throw new InputError({ field, expected: `one of ${BROWSER_ALGORITHMS.join(', ')}`, got: quoted(name) });
  }
  if (forecaster !== undefined && forecaster !== ORACLE) {
    throw new InputError({ field, expected: `${controller}@${ORACLE}`, got: quoted(name) });
  }
  const chosen = forecaster ?? OWN_FORECASTER[controller!];
  return { controller: controller!, ...(chosen !== undefined && { forecaster: chosen }) };
}
