/** The segments after the segment to decide on, as a problem for the value function. */

import type { PlayerState } from '../controller.ts';
import { type ChangePrices, QOE_UNIT_SECONDS, type StallPrices } from '../qoe/qoe.ts';
import { bufferedSecondValue, horizonOf } from '../state/horizon.ts';
import { secondsAt, sizesAt } from '../state/ladder.ts';
import { qualitiesAt } from '../state/qualities.ts';
import { watchShares } from '../state/watch-time.ts';
import type { CapacityRanks } from './capacity-ranks.ts';
import type { ForecastSteps } from './forecast-steps.ts';
import { REACTION_SEGMENTS, type ResolvedMpcLOptions } from './options.ts';
import type { TailWeight } from './rank-chain.ts';

/** At risk 1 a stall costs this many times mu more. */
const STALL_AVERSION = 4;
/** The worst futures, and their weight at risk 1; the mean has the rest. */
const TAIL_SHARE = 0.2;
const TAIL_WEIGHT = 0.3;
/** Until then a session prepares less for outages, by the 4th power, so that a new viewer sees a good picture first. */
const PREPARED_SECONDS = 75;

export interface ValueProblem {
  /** Ranks of capacity. */
  bins: number;
  /** Ends of the steps in seconds from now; the last one goes on. Capacity `[step * bins + rank]` in bit/s. */
  stepEndsSeconds: readonly number[];
  capacityBps: Float64Array;
  /** Buffer level now, before the segment to decide on; the first stage is the segment after it. */
  bufferLevelSeconds: number;
  /** Number of representations. */
  count: number;
  /** Later segments, soonest first. */
  stages: readonly LaterSegment[];
  /** Value of a buffered second after the last stage, per rank. */
  bufferValuePerSecond: readonly number[];
  /** What stalls (`stallCostsOf`) and changes of quality cost. */
  costs: Required<StallPrices> & ChangePrices;
  /** Outages of the link that the ranks do not have, as begins per second. */
  outagesPerSecond: number;
  /** How long the segment to decide on plays. */
  decidedSeconds: number;
  /** How long a usual segment plays: the player sends a request when the buffer has room for one. */
  segmentSeconds: number;
  bufferCapSeconds: number;
  latencySeconds: number;
  /** Buffer level at which the media element stalls. */
  stallLevelSeconds: number;
  /** From a request to the abandonment of a download that would stall; `Infinity` = never. */
  reactionSeconds: number;
  /** No download is abandoned while more than this is buffered. */
  patienceSeconds: number;
  /** `at` is asked for buffer levels from here, at most the shortest segment's duration, to there. */
  leastLevelSeconds: number;
  mostLevelSeconds: number;
}

export interface LaterSegment {
  /** How long the segment plays. */
  seconds: number;
  /** QoE of the segment per unit of quality: its seconds of media / 4. */
  qualityScale: number;
  /** `[from * bins + to]` */
  transitions: Float64Array;
  /** Size and quality of each representation. */
  sizesBits: readonly number[];
  qualities: readonly number[];
  /** Share of the viewers of the segment before who watch this one, 0 to 1. */
  watchShare: number;
}

/** How the plan's score weighs the worst outcomes beside the mean. */
export function tailWeightOf({ risk }: Pick<ResolvedMpcLOptions, 'risk'>): TailWeight {
  return { weight: TAIL_WEIGHT * risk, tail: TAIL_SHARE };
}

/** The prices of the plan: the objective's, raised by the aversion to risk. */
export function stallCostsOf({ weights }: PlayerState, { risk }: { risk: number }): Required<StallPrices> {
  const aversion = 1 + STALL_AVERSION * risk;
  return { mu: weights.mu * aversion, stall: (weights.stall || 0) * aversion };
}

/** The later segments as a problem for a forecast that was read for this state. Its seconds are the clock's. */
export function laterSegments(
  state: PlayerState,
  options: ResolvedMpcLOptions,
  steps: ForecastSteps,
  ranks: CapacityRanks,
  latencySeconds: number,
): ValueProblem {
  const { tuning } = options;
  const { weights, playbackRate, segmentsRemaining } = state;
  const segmentSeconds = state.segmentSeconds / playbackRate;
  const decidedSeconds = secondsAt(state, 0) / playbackRate;
  const count = Math.max(0, Math.min(horizonOf(state, options), segmentsRemaining) - 1);
  const { bins } = ranks;
  const stepEndsSeconds = steps.endsFromNow();
  const capacityBps = ranks.capacityBps(steps);
  const lastCapacity = [...capacityBps.subarray((stepEndsSeconds.length - 1) * bins, stepEndsSeconds.length * bins)];
  const shares = watchShares(state, count + 1, options.watchSeconds);
  const lastQualities = qualitiesAt(state, count + 1);
  const isEnd = segmentsRemaining <= count + 1;
  let endSeconds = decidedSeconds;
  const stages = Array.from({ length: count }, (_, i): LaterSegment => {
    const mediaSeconds = secondsAt(state, i + 1);
    const transitions = ranks.transitions(
      steps.correlationBetween(endSeconds - secondsAt(state, i) / playbackRate, endSeconds),
    );
    endSeconds += mediaSeconds / playbackRate;
    return {
      seconds: mediaSeconds / playbackRate,
      qualityScale: mediaSeconds / QOE_UNIT_SECONDS,
      transitions,
      sizesBits: sizesAt(state, i + 1),
      // Without qualities of their own, all segments share the last ones.
      qualities: state.upcomingQualities ? qualitiesAt(state, i + 1) : lastQualities,
      watchShare: shares[i + 1]! / shares[i]!,
    };
  });
  return {
    bins,
    stepEndsSeconds,
    capacityBps,
    bufferLevelSeconds: state.bufferLevelSeconds / playbackRate,
    count: state.ladderBps.length,
    stages,
    bufferValuePerSecond: lastCapacity.map((bps) =>
      isEnd ? 0 : (shares[count + 1]! / shares[count]!) * bufferedSecondValue(state, lastQualities, bps),
    ),
    costs: { ...weights, ...stallCostsOf(state, options) },
    outagesPerSecond: tuning.outagesPerSecond * Math.min(1, (state.nowSeconds / PREPARED_SECONDS) ** 4),
    segmentSeconds,
    bufferCapSeconds: state.bufferCapSeconds / playbackRate,
    latencySeconds,
    stallLevelSeconds: tuning.stallLevelSeconds / playbackRate,
    reactionSeconds: options.abandon ? REACTION_SEGMENTS * segmentSeconds : Number.POSITIVE_INFINITY,
    patienceSeconds: tuning.patienceSegments * segmentSeconds,
    // The segment to decide on ends with it in the buffer, and with what is left of the present buffer.
    leastLevelSeconds: Math.min(decidedSeconds, ...stages.map(({ seconds }) => seconds)),
    decidedSeconds,
    mostLevelSeconds: state.bufferLevelSeconds / playbackRate + decidedSeconds,
  };
}
