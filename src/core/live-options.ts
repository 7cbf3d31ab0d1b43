/** The options of the entry `leo-abr/live`: those of MPC-L, with its plan for the live edge and its pace. */

import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { PathPlan } from '../../abr/mpc-l/live/path-plan.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { type LeoAbrOptions, resolveOptions } from './mpc-l-options.ts';
import { Pacing } from './pacing.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveLiveOptions(options?: LeoAbrOptions): ResolvedOptions {
  return resolveOptions(options, {
    createController: createLiveMpcL,
    newLivePlan: () => new PathPlan(),
    newSubSecond: () => new SubSecond(),
    newPacing: (parts) => new Pacing(parts),
  });
}
