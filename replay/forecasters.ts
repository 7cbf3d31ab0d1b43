/** The forecaster of an algorithm in a replay: its default, or the one named after `@`. */

import { InputError } from '../abr/errors.ts';

/** `oracle`: the true future. `built-in`: the plugin's, with or without its handover clock. */
const FORECASTER_NAMES = ['oracle', 'built-in', 'built-in:no-handover'] as const;
export type ForecasterName = (typeof FORECASTER_NAMES)[number];

function defaultForecaster(controller: string): ForecasterName | undefined {
  if (controller === 'mpc-o') return 'oracle';
  if (controller === 'mpc-l:no-handover') return 'built-in:no-handover';
  return /^mpc-l(?!:no-forecast$)/.test(controller) ? 'built-in' : undefined;
}

/**
 * Splits `<controller>` or `<controller>@<forecaster>`; a file's path may contain an `@`. Does not check the
 * controller.
 * @throws {InputError} of `field` for an unknown forecaster.
 */
export function splitAlgorithm(
  name: string,
  field: string,
): { controller: string; forecaster: ForecasterName | undefined } {
  const at = /\.(ts|js|mjs)$/.test(name) ? -1 : name.lastIndexOf('@');
  const controller = at < 0 ? name : name.slice(0, at);
  const wanted = at < 0 ? defaultForecaster(controller) : name.slice(at + 1);
  const forecaster = FORECASTER_NAMES.find((known) => known === wanted);
  if (wanted !== undefined && forecaster === undefined) {
    const known = FORECASTER_NAMES.map((forecasterName) => `${controller}@${forecasterName}`);
    throw new InputError(field, `one of ${known.join(', ')}`, name);
  }
  return { controller, forecaster };
}
