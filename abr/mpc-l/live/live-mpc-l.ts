/**
 * MPC-L, also for live streams a second or so behind the edge. It chooses a representation per segment by playing the
 * chunks of this and the next segments in every future, and the playback rate once a second by a plan of the latency.
 * ../README.md has the data flow, docs/findings.md the results.
 */

import type { Controller, InFlight, Pace, PlayerState } from '../../controller.ts';
import type { QuantileForecast } from '../../forecast.ts';
import { type LivePart, MpcL } from '../mpc-l.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from '../options.ts';
import { COPIES, LinkFutures } from './link-futures.ts';
import { LiveOutcomes } from './live-outcomes.ts';
import { paceOf } from './pace.ts';
import { PathPlan } from './path-plan.ts';
import { SlowedLink } from './slowed-link.ts';

export function createLiveMpcL(options: MpcLOptions = {}): Controller {
  const resolved = resolveMpcLOptions(options);
  return new MpcL(resolved, new LiveEdge(resolved));
}

/** MPC-L's plan of live streams: the chunks of requests in futures of 0.1 s. */
class LiveEdge implements LivePart {
  readonly fallback = new PathPlan();
  readonly slowed: SlowedLink;
  private readonly _options: ResolvedMpcLOptions;
  private _link: LinkFutures | undefined;
  /** `reconsider` and `pace` share the state of a tick. `decide`, which draws more futures, gets a state of its own. */
  private _latest: { state: PlayerState; forecast: QuantileForecast; outcomes: LiveOutcomes } | undefined;

  constructor(options: ResolvedMpcLOptions) {
    this._options = options;
    this.slowed = new SlowedLink(options);
  }

  pace(state: PlayerState, inFlight: InFlight | undefined, forecast: QuantileForecast | undefined): Pace {
    const plan = forecast && { forecast, outcomes: this.outcomes(state, forecast, 1) };
    return paceOf(state, inFlight, { options: this._options, plan });
  }

  outcomes(state: PlayerState, forecast: QuantileForecast, copies?: number): LiveOutcomes {
    const latest = this._latest;
    if (latest?.state === state && latest.forecast === forecast) return latest.outcomes;
    const { tuning, seed } = this._options;
    this._link ||= new LinkFutures(tuning.futures / COPIES, seed);
    const outcomes = new LiveOutcomes(state, this._options, this._link.draw(state, forecast, copies));
    this._latest = { state, forecast, outcomes };
    return outcomes;
  }
}
