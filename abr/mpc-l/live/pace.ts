/** The pace of MPC-L and MPC-O: the latency plan on the chunks that the outcomes expect. */

import type { InFlight, Pace, PlayerState } from '../../controller.ts';
import type { Forecast } from '../../forecast.ts';
import { highestWithin } from '../../state/ladder.ts';
import type { ResolvedMpcLOptions } from '../options.ts';
import { planRate } from './latency-plan.ts';
import { DRAWN_SECONDS } from './link-paths.ts';
import { type LiveOutcomes, liveStallSeconds } from './live-outcomes.ts';

/** A rate is planned again after this time. */
const KEPT_SECONDS = 1;
/** At risk 1 a second of latency may be this many times cheaper, besides once, where the target is free. */
const AUTO_AVERSION = 9;

export interface PaceBasis {
  options: ResolvedMpcLOptions;
  /** The controller chooses the latency itself. Default false. */
  isTargetFree?: boolean;
  /** Without it playback returns to the target. */
  plan?: { forecast: Pick<Forecast, 'source' | 'handovers'>; outcomes: LiveOutcomes } | undefined;
}

/** The rate to play at from now on. */
export function paceOf(
  state: PlayerState,
  inFlight: InFlight | undefined,
  { options, isTargetFree = false, plan }: PaceBasis,
): Pace {
  const live = state.live!;
  const { latencySeconds, chunkSeconds } = live;
  const jump = latencySeconds > live.maxLatencySeconds;
  // A free target is where playback is.
  const targetLatencySeconds = isTargetFree && !jump ? latencySeconds : live.targetLatencySeconds;
  const chunks = Math.ceil(DRAWN_SECONDS / chunkSeconds);
  const needed = plan ? neededSeconds(plan.outcomes, state, inFlight, chunks) : new Float64Array(0);
  const playbackRate = planRate({
    live,
    aversion: isTargetFree && plan ? 1 + AUTO_AVERSION * options.risk : undefined,
    dueSeconds: state.bufferLevelSeconds / state.playbackRate,
    neededLatencySeconds: needed,
    chunks,
    presentRate: state.playbackRate,
    segmentSeconds: state.segmentSeconds,
    stallSeconds: liveStallSeconds(options),
  });
  const source = plan ? plan.forecast.source : 'no usable forecast';
  const next = plan?.forecast.handovers.find(({ atMs }) => atMs > state.utcMs!);
  const handover = next ? `; handover in ${((next.atMs - state.utcMs!) / 1000).toFixed(1)} s` : '';
  return {
    playbackRate,
    jump,
    targetLatencySeconds,
    keepsForSeconds: KEPT_SECONDS,
    reason: `${source}: latency ${latencySeconds.toFixed(2)} s of ${targetLatencySeconds.toFixed(2)} s${handover}`,
  };
}

/** The latency at which each of the next chunks plays in time, at the present bitrate and those that the link carries. */
function neededSeconds(
  outcomes: LiveOutcomes,
  { ladderBps, previousBitrateBps = 0 }: PlayerState,
  inFlight: InFlight | undefined,
  chunks: number,
): Float64Array {
  const representation = highestWithin(ladderBps, inFlight ? inFlight.bitrateBps : previousBitrateBps);
  const request = inFlight ? outcomes.running(inFlight, representation) : outcomes.newRequest(representation);
  return outcomes.neededLatencySeconds(request, chunks);
}
