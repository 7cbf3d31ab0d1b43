/** Which forecaster an algorithm of the replay plans on: its own, or the one named behind `@`. */

import { InputError } from '../abr/errors.ts';

/** `oracle`: the true future. `built-in`: the plugin's, with or without what it knows of handovers. */
export const FORECASTER_NAMES = ['oracle', 'built-in', 'built-in:no-handover'] as const;
export type ForecasterName = (typeof FORECASTER_NAMES)[number];

/** The forecaster that a controller has without being asked for one. */
function ownForecaster(controller: string): ForecasterName | undefined {
  if (controller === 'mpc-o') return 'oracle';
  if (controller === 'mpc-l:no-handover') return 'built-in:no-handover';
  return /^mpc-l(?!:no-forecast$)/.test(controller) ? 'built-in' : undefined;
}

export interface NamedAlgorithm {
  controller: string;
  forecaster: ForecasterName | undefined;
}

/**
 * `<controller>` or `<controller>@<forecaster>` in its parts; the caller knows the controllers, and a file's path may
 * have an `@`. `InputError` of `field` for a forecaster that there is not.
 */
export function splitAlgorithm(name: string, field: string): NamedAlgorithm {
  const at = /\.(ts|js|mjs)$/.test(name) ? -1 : name.lastIndexOf('@');
  const controller = at < 0 ? name : name.slice(0, at);
  const wanted = at < 0 ? ownForecaster(controller) : name.slice(at + 1);
  const forecaster = FORECASTER_NAMES.find((known) => known === wanted);
  if (wanted !== undefined && forecaster === undefined) {
    const known = FORECASTER_NAMES.map((forecasterName) => `${controller}@${forecasterName}`);
    throw new InputError(field, `a forecaster that there is (${known.join(', ')})`, name);
  }
  return { controller, forecaster };
}
