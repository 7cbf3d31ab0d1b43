/**
 * MPC-L for live streams a second or so behind the edge. The representation is chosen per segment, by playing the chunks
 * of this and the next segments in every future; the playback rate ten times a second, by a plan of the latency.
 * README.md of the folder above has the data flow; docs/live.md has the results.
 */

import type { Controller, InFlight, Pace, PlayerState } from '../../controller.ts';
import type { Forecast } from '../../forecast.ts';
import { lastIndexAtMost } from '../later-segments.ts';
import { MpcL, type PlanBasis, recentLatencySeconds } from '../mpc-l.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from '../options.ts';
import type { Outcomes } from '../segment-outcomes.ts';
import { planRate } from './latency-plan.ts';
import { DRAWN_SECONDS, LinkFutures } from './link-futures.ts';
import { LiveOutcomes, liveStallSeconds } from './live-outcomes.ts';

export interface LiveMpcLOptions extends MpcLOptions {
  /** Whether the controller sets the playback rate; otherwise the player's own catch-up does. Default true. */
  rate?: boolean;
  /** Whether the controller chooses the latency itself, as for `LiveState.isTargetFree`. Default false. */
  autoTarget?: boolean;
}

/** At risk 1 a second of latency may be this many times cheaper, besides once, where the target is free. */
const AUTO_AVERSION = 9;

/** Throws `InputError` for an invalid option. */
export function createLiveMpcL({ rate = true, autoTarget = false, ...options }: LiveMpcLOptions = {}): Controller {
  const resolved = resolveMpcLOptions(options);
  return rate ? new PacingMpcL(resolved, autoTarget) : new LiveMpcL(resolved);
}

class LiveMpcL extends MpcL {
  protected readonly options: ResolvedMpcLOptions;
  #link: LinkFutures | undefined;

  constructor(options: ResolvedMpcLOptions) {
    super(options);
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
    return new LiveOutcomes(state, { options, link: this.#link, latencySeconds });
  }
}

class PacingMpcL extends LiveMpcL {
  readonly #isTargetFree: boolean;

  constructor(options: ResolvedMpcLOptions, isTargetFree: boolean) {
    super(options);
    this.#isTargetFree = isTargetFree;
  }

  /** The rate to play at; towards the target without a usable forecast. */
  pace(state: PlayerState, inFlight: InFlight | undefined, forecast?: Forecast): Pace {
    const live = state.live!;
    const { latencySeconds, chunkSeconds } = live;
    const isFree = live.isTargetFree || this.#isTargetFree;
    const jump = latencySeconds > live.maxLatencySeconds;
    // A free target is where playback is.
    const targetLatencySeconds = isFree && !jump ? latencySeconds : live.targetLatencySeconds;
    const basis = this.basisFor(state, inFlight, forecast);
    const chunks = Math.ceil(DRAWN_SECONDS / chunkSeconds);
    const playbackRate = planRate({
      live,
      aversion: isFree && basis ? 1 + AUTO_AVERSION * this.options.risk : undefined,
      dueSeconds: state.bufferLevelSeconds / state.playbackRate,
      neededLatencySeconds: basis ? this.#needed(basis, inFlight, chunks) : new Float64Array(0),
      chunks,
      presentRate: state.playbackRate,
      segmentSeconds: state.segmentSeconds,
      stallSeconds: liveStallSeconds(this.options),
    });
    const source = basis?.forecast.source ?? 'no usable forecast';
    const next = basis?.forecast.handovers.find(({ atMs }) => atMs > state.utcMs!);
    const handover = next ? `; handover in ${((next.atMs - state.utcMs!) / 1000).toFixed(1)} s` : '';
    return {
      playbackRate,
      jump,
      targetLatencySeconds,
      reason: `${source}: latency ${latencySeconds.toFixed(2)} s of ${targetLatencySeconds.toFixed(2)} s${handover}`,
    };
  }

  #needed(basis: PlanBasis, inFlight: InFlight | undefined, chunks: number): Float64Array {
    const { ladderBps, previousBitrateBps = 0 } = basis.state;
    const outcomes = this.liveOutcomes(basis);
    const representation = Math.max(0, lastIndexAtMost(ladderBps, inFlight?.bitrateBps ?? previousBitrateBps));
    const request = inFlight ? outcomes.running(inFlight, representation) : outcomes.newRequest(representation);
    return outcomes.neededLatencySeconds(request, chunks);
  }
}
