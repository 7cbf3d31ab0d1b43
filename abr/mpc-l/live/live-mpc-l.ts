/**
 * MPC-L for live streams a second or so behind the edge. The representation is chosen per segment, by playing the chunks
 * of this and the next segments in every future; the playback rate ten times a second, by a plan of the latency.
 * README.md of the folder above has the data flow; docs/live.md has the results.
 */

import type { Controller, InFlight, Pace, PlayerState } from '../../controller.ts';
import type { ValidForecast } from '../../forecast.ts';
import { MpcL, type PlanBasis, recentLatencySeconds } from '../mpc-l.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from '../options.ts';
import type { Outcomes } from '../segment-outcomes.ts';
import { LinkFutures } from './link-futures.ts';
import { LiveOutcomes } from './live-outcomes.ts';
import { paceOf } from './pace.ts';
import { PathPlan } from './path-plan.ts';

export interface LiveMpcLOptions extends MpcLOptions {
  /** Whether the controller sets the playback rate; otherwise the player's own catch-up does. Default true. */
  rate?: boolean;
  /** Whether the controller chooses the latency itself, as for `LiveState.isTargetFree`. Default false. */
  autoTarget?: boolean;
}

/** Throws `InputError` for an invalid option. */
export function createLiveMpcL({ rate = true, autoTarget = false, ...options }: LiveMpcLOptions = {}): Controller {
  const resolved = resolveMpcLOptions(options);
  return rate ? new PacingMpcL(resolved, autoTarget) : new LiveMpcL(resolved);
}

class LiveMpcL extends MpcL {
  protected readonly options: ResolvedMpcLOptions;
  #link: LinkFutures | undefined;

  constructor(options: ResolvedMpcLOptions) {
    super(options, new PathPlan());
    this.options = options;
  }

  protected override outcomesOf(basis: PlanBasis): Outcomes {
    return basis.state.live ? this.liveOutcomes(basis) : super.outcomesOf(basis);
  }

  protected override isLate(basis: PlanBasis, inFlight: InFlight, representation: number): boolean {
    if (basis.state.live === undefined) return super.isLate(basis, inFlight, representation);
    const outcomes = this.liveOutcomes(basis);
    const { stallSeconds } = outcomes.evaluate(outcomes.running(inFlight, representation));
    return stallSeconds >= this.options.tuning.liveLateSeconds;
  }

  protected liveOutcomes({ state, forecast, futures }: PlanBasis): LiveOutcomes {
    const { options } = this;
    const latencySeconds = recentLatencySeconds(state);
    this.#link ??= new LinkFutures(futures, options.seed);
    this.#link.draw(state, forecast);
    return new LiveOutcomes(state, { options, link: this.#link.paths, latencySeconds });
  }
}

class PacingMpcL extends LiveMpcL {
  readonly #isTargetFree: boolean;

  constructor(options: ResolvedMpcLOptions, isTargetFree: boolean) {
    super(options);
    this.#isTargetFree = isTargetFree;
  }

  /** The rate to play at; towards the target without a usable forecast. */
  pace(state: PlayerState, inFlight: InFlight | undefined, forecast?: ValidForecast): Pace {
    const basis = this.basisFor(state, inFlight, forecast);
    return paceOf(state, inFlight, {
      options: this.options,
      isTargetFree: state.live!.isTargetFree || this.#isTargetFree,
      plan: basis && { forecast: basis.forecast, outcomes: this.liveOutcomes(basis) },
    });
  }
}
