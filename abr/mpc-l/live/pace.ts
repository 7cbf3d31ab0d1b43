/** The pace of MPC-D, MPC-L and MPC-O: the latency plan on the expected arrivals of chunks. */

import type { InFlight, Pace, PlayerState } from '../../controller.ts';
import type { Forecast } from '../../forecast.ts';
import { highestWithin } from '../../state/facts.ts';
import type { ResolvedMpcLOptions } from '../options.ts';
import { planRate } from './latency-plan.ts';
import { DRAWN_SECONDS } from './link-paths.ts';
import { type LiveOutcomes, liveStallCosts } from './live-outcomes.ts';

/** Seconds between two plans. */
const KEPT_SECONDS = 1;

export interface PaceBasis {
  options: ResolvedMpcLOptions;
  /** Without a plan playback returns to the target. */
  plan?: { forecast: Pick<Forecast, 'source' | 'handovers'>; outcomes: LiveOutcomes } | undefined;
}

export function paceOf(state: PlayerState, inFlight: InFlight | undefined, { options, plan }: PaceBasis): Pace {
  const live = state.live!;
  const { latencySeconds, targetLatencySeconds, chunkSeconds } = live;
  const { bps = Number.POSITIVE_INFINITY } = inFlight?.recent ?? {};
  // A jump discards the download, and a link that cannot carry the lowest bitrate does not stay at the target.
  const jump = latencySeconds > live.maxLatencySeconds && bps >= state.ladderBps[0]!;
  const isLate = inFlight !== undefined && bps < inFlight.bitrateBps && state.bufferLevelSeconds < state.segmentSeconds;
  const chunks = Math.ceil(DRAWN_SECONDS / chunkSeconds);
  const needed = plan ? neededSeconds(plan.outcomes, state, inFlight, chunks) : new Float64Array(0);
  const { mu, stall } = liveStallCosts(state, options);
  const planned = planRate({
    live,
    dueSeconds: state.bufferLevelSeconds / state.playbackRate,
    neededLatencySeconds: needed,
    chunks,
    presentRate: state.playbackRate,
    segmentSeconds: state.segmentSeconds,
    beginSeconds: stall / (mu || 1),
  });
  const source = plan?.forecast.source ?? (state.downloads.length > 0 ? 'no usable forecast' : 'nothing measured yet');
  const next = plan?.forecast.handovers.find(({ atMs }) => atMs > state.utcMs!);
  const handover = next ? `; handover in ${((next.atMs - state.utcMs!) / 1000).toFixed(1)} s` : '';
  return {
    playbackRate: isLate ? Math.min(1, planned) : planned,
    jump,
    targetLatencySeconds,
    keepsForSeconds: KEPT_SECONDS,
    reason: `${source}: latency ${latencySeconds.toFixed(2)} s of ${targetLatencySeconds.toFixed(2)} s${handover}`,
  };
}

/** The latencies at which the next chunks play in time: this segment at its bitrate, later segments as the link carries. */
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
