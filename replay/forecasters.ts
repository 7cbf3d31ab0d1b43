/** Which forecaster an algorithm of the replay plans on: its own, or the one named behind `@`. */

import { InputError, quoted } from './formats/input-error.ts';

/** `oracle`: the true future. `built-in`: the plugin's, with or without what it knows of handovers. */
export const FORECASTER_NAMES = ['oracle', 'built-in', 'built-in:no-handover'] as const;
export type ForecasterName = (typeof FORECASTER_NAMES)[number];

/** Controllers that have a forecaster without being asked for one. */
const OWN_FORECASTER: Readonly<Record<string, ForecasterName>> = {
  'mpc-o': 'oracle',
  'mpc-l': 'built-in',
  'mpc-l:no-abandon': 'built-in',
  'mpc-l:no-startup': 'built-in',
  'mpc-l:no-handover': 'built-in:no-handover',
};

export interface NamedAlgorithm {
  controller: string;
  forecaster: ForecasterName | undefined;
}

/**
 * `<controller>` or `<controller>@<forecaster>` in its parts; the caller knows the controllers. `InputError` of `field`
 * for a forecaster that there is not.
 */
export function splitAlgorithm(name: string, field: string): NamedAlgorithm {
  const at = name.indexOf('@');
  const controller = at < 0 ? name : name.slice(0, at);
  const wanted = at < 0 ? OWN_FORECASTER[controller] : name.slice(at + 1);
  const forecaster = FORECASTER_NAMES.find((known) => known === wanted);
  if (wanted !== undefined && forecaster === undefined) {
    const known = FORECASTER_NAMES.map((forecasterName) => `${controller}@${forecasterName}`);
    throw new InputError({ field, expected: `a forecaster that there is (${known.join(', ')})`, got: quoted(name) });
  }
  return { controller, forecaster };
}
