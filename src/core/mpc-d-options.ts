/** The named variants of MPC-D, and the options of the entry `leo-abr/mpc-d`. */

import type { Controller } from '../../abr/controller.ts';
import { createMpcD, type LivePlan } from '../../abr/mpc-d.ts';
import { COMMON_CHECKS, type CommonOptions, checkOptions, controllerCheck, resolveCommon } from './options.ts';
import type { ResolvedOptions } from './resolved-options.ts';

const VARIANTS = { 'mpc-d': {}, 'mpc-d:abandon': { abandon: true }, 'mpc-d:cap': { bufferCap: true } };

export type MpcDName = keyof typeof VARIANTS;

export const MPC_D_NAMES = Object.keys(VARIANTS) as readonly MpcDName[];

const DEFAULT_HORIZON = 5;

export interface MpcDEntryOptions extends CommonOptions {
  /**
   * The controller: a name, or your own object. A named one is made anew for every source of the player; an object is
   * shared by all. Default `mpc-d`.
   */
  controller?: MpcDName | Controller;
}

const CHECKS = { ...COMMON_CHECKS, controller: controllerCheck(MPC_D_NAMES) };

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveMpcDOptions(options: MpcDEntryOptions = {}): ResolvedOptions {
  checkOptions(options, CHECKS);
  return { ...resolveCommon(options), ...mpcDController(options) };
}

/** An MPC-D by name, or the page's own controller. `newLivePlan`: of live streams, in entries that have one. */
export function mpcDController(
  { controller = 'mpc-d', horizon = DEFAULT_HORIZON }: MpcDEntryOptions,
  newLivePlan?: () => LivePlan,
): Pick<ResolvedOptions, 'horizon' | 'controllerName' | 'newController'> {
  return typeof controller === 'string'
    ? {
        horizon,
        controllerName: controller,
        newController: () =>
          createMpcD({ horizon, outlook: true, ...VARIANTS[controller], ...(newLivePlan && { live: newLivePlan() }) }),
      }
    : { horizon, controllerName: controller.name, newController: () => controller };
}
