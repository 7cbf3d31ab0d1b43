/** MPC-D as the plugin offers it, by name, and the options of the entry that has it alone. */

import type { Controller } from '../../abr/controller.ts';
import { createMpcD } from '../../abr/mpc-d.ts';
import {
  COMMON_CHECKS,
  type CommonOptions,
  checkOptions,
  controllerCheck,
  type ResolvedOptions,
  resolveCommon,
} from './options.ts';

const VARIANTS = {
  'mpc-d': {},
  'mpc-d:abandon': { abandon: true },
  'mpc-d:cap': { bufferCap: true },
};

export type MpcDName = keyof typeof VARIANTS;

export const MPC_D_NAMES = Object.keys(VARIANTS) as readonly MpcDName[];

const DEFAULT_HORIZON = 5;

export interface MpcDEntryOptions extends CommonOptions {
  /**
   * What decides: a name, or an object of your own. A named one is made anew for every source that the player is given;
   * an object is shared by all of them. Default `mpc-d`.
   */
  controller?: MpcDName | Controller;
}

const CHECKS = { ...COMMON_CHECKS, controller: controllerCheck(MPC_D_NAMES) };

/** Throws an `InputError` (field, expected, received) for the first option that cannot be worked with. */
export function resolveMpcDOptions(options: MpcDEntryOptions = {}): ResolvedOptions {
  checkOptions(options, CHECKS);
  return { ...resolveCommon(options), ...mpcDController(options) };
}

/** An MPC-D by name, or a controller of the page's. */
export function mpcDController({
  controller = 'mpc-d',
  horizon = DEFAULT_HORIZON,
}: MpcDEntryOptions): Pick<ResolvedOptions, 'horizon' | 'controllerName' | 'newController'> {
  return typeof controller === 'string'
    ? {
        horizon,
        controllerName: controller,
        newController: () => createMpcD({ horizon, outlook: true, ...VARIANTS[controller] }),
      }
    : { horizon, controllerName: controller.name, newController: () => controller };
}
