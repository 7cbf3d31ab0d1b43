/**
 * The planner for any capacity path: MPC-O plans on the true one, a stochastic controller on many. How it works and what
 * it maximises is said in planner/constant-planner.ts.
 */

import type { CapacityPath } from './capacity-path.ts';
import { ConstantPlanner, type PlannerOptions } from './planner/constant-planner.ts';
import { VaryingPaths } from './planner/varying-paths.ts';

export * from './planner/constant-planner.ts';

/** Plans on any path; on a constant one exactly as `ConstantPlanner` does. */
export class Planner extends ConstantPlanner<CapacityPath> {
  /** Throws `InputError` where an option cannot be worked with. */
  constructor(options: PlannerOptions = {}) {
    super(options, new VaryingPaths());
  }
}
