/** The exact planner for any capacity path, as MPC-O needs it. planner/constant-planner.ts says how it works. */

import type { CapacityPath } from './capacity-path.ts';
import { ConstantPlanner, type PlannerOptions } from './planner/constant-planner.ts';
import { VaryingPaths } from './planner/varying-paths.ts';

export * from './planner/constant-planner.ts';

/** Plans on any path; on a constant one it equals `ConstantPlanner`. */
export class Planner extends ConstantPlanner<CapacityPath> {
  /** Throws `InputError` for an invalid option. */
  constructor(options: PlannerOptions = {}) {
    super(options, new VaryingPaths());
  }
}
