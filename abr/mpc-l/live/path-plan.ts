/** MPC-D's and MPC-O's plan of live streams is MPC-L's plan on one capacity path instead of a distribution. */

import type { InFlight, Pace, PlayerState } from '../../controller.ts';
import type { CapacityPath } from '../../mpc/capacity-path.ts';
import type { LivePlan } from '../../mpc/mpc-d.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from '../options.ts';
import { describeEvaluation, evaluateAll } from '../segment-outcomes.ts';
import { LinkPaths } from './link-paths.ts';
import { LiveOutcomes } from './live-outcomes.ts';
import { paceOf } from './pace.ts';

export class PathPlan implements LivePlan {
  /** The rate so far is no distribution, so it would call downloads late too often. */
  readonly lateSeconds = 4;
  private readonly _options: ResolvedMpcLOptions;
  private readonly _link = new LinkPaths(1);

  /** `risk`: as for MPC-L. Default 0, because RobustMPC's discount is enough aversion. */
  constructor({ risk = 0 }: Pick<MpcLOptions, 'risk'> = {}) {
    this._options = resolveMpcLOptions({ risk });
  }

  decide(state: PlayerState, path: CapacityPath, evidence: string) {
    const { best, evaluations, candidates } = evaluateAll(state, this._outcomes(state, path));
    return { representation: best, candidates, reason: `${evidence}: ${describeEvaluation(evaluations[best]!)}` };
  }

  reconsider(state: PlayerState, path: CapacityPath, inFlight: InFlight): (representation: number) => number {
    const outcomes = this._outcomes(state, path);
    const current = state.ladderBps.lastIndexOf(inFlight.bitrateBps);
    const running = outcomes.running(inFlight, current);
    return (r) => outcomes.evaluate(r === current ? running : outcomes.newRequest(r, running)).score;
  }

  pace(state: PlayerState, inFlight: InFlight | undefined, future: Parameters<LivePlan['pace']>[2]): Pace {
    const plan = future && { forecast: future, outcomes: this._outcomes(state, future.path) };
    return paceOf(state, inFlight, { options: this._options, plan });
  }

  private _outcomes(state: PlayerState, path: CapacityPath): LiveOutcomes {
    this._link.sample(path);
    return new LiveOutcomes(state, this._options, this._link);
  }
}
