/** The segments after the segment to decide on, as a problem for the value function. */

import type { PlayerState } from '../controller.ts';
import { type ChangePrices, QOE_UNIT_SECONDS, type StallPrices, stallCost } from '../qoe/qoe.ts';
import { bufferedSecondValue, horizonOf } from '../state/horizon.ts';
import { qualitiesAt, secondsAt, sizesAt, worthsAt } from '../state/ladder.ts';
import { watchShares } from '../state/watch-time.ts';
import type { CapacityRanks } from './capacity-ranks.ts';
import type { ForecastSteps } from './forecast-steps.ts';
import { REACTION_SEGMENTS, type ResolvedMpcLOptions } from './options.ts';
import type { TailWeight } from './rank-chain.ts';

/** At risk 1 a stall costs this many times mu more. */
const STALL_AVERSION = 4;
/** Share of the worst futures, and their extra weight at risk 1. */
const TAIL_SHARE = 0.2;
const TAIL_WEIGHT = 0.3;
/** Mean duration of an outage. */
export const OUTAGE_SECONDS = 20;
/** Until this time the session prepares less for outages, by the 4th power, so that a new viewer sees a good picture. */
const PREPARED_SECONDS = 75;

export interface ValueProblem {
  /** Number of ranks of capacity; at most `MOST_BINS`. */
  bins: number;
  /** Ends of the steps in seconds from now; the last step goes on. */
  stepEndsSeconds: readonly number[];
  /** `[step * bins + rank]` in bit/s. */
  capacityBps: Float64Array;
  /** Buffer level now, before the segment to decide on. The first stage is the segment after it. */
  bufferLevelSeconds: number;
  count: number;
  /** Later segments, soonest first. */
  stages: readonly LaterSegment[];
  /** Value of a buffered second after the last stage, per rank. */
  bufferValuePerSecond: readonly number[];
  costs: Required<StallPrices> & ChangePrices;
  /** Expected cost per second of outages beyond the ranks' capacity that begin while nothing is buffered. */
  outageCostPerSecond: number;
  /** Duration of the segment to decide on. */
  decidedSeconds: number;
  /** Usual duration of a segment: the player sends a request when the buffer has room for it. */
  segmentSeconds: number;
  bufferCapSeconds: number;
  latencySeconds: number;
  /** Buffer level at which the media element stalls. */
  stallLevelSeconds: number;
  /** Seconds from a request to the abandonment of a download that would stall; `Infinity`: never. */
  reactionSeconds: number;
  /** No download is abandoned while more than this is buffered. */
  patienceSeconds: number;
  /** Range of buffer levels at the first stage, from at most the duration of the shortest segment on. */
  leastLevelSeconds: number;
  mostLevelSeconds: number;
}

export interface LaterSegment {
  seconds: number;
  /** QoE of the segment per unit of quality: its seconds of media / 4. */
  qualityScale: number;
  /** `[from * MOST_BINS + to]`; 0 for ranks that do not exist. */
  transitions: Float64Array;
  sizesBits: readonly number[];
  qualities: readonly number[];
  /** Qualities less the price of the bits. */
  worths: readonly number[];
  /** Share of the previous segment's viewers who watch this segment, 0 to 1. */
  watchShare: number;
}

export function tailWeightOf({ risk }: Pick<ResolvedMpcLOptions, 'risk'>): TailWeight {
  return { weight: TAIL_WEIGHT * risk, tail: TAIL_SHARE };
}

/** The objective's prices, raised by the aversion to risk. */
export function stallCostsOf({ weights }: PlayerState, { risk }: { risk: number }): Required<StallPrices> {
  const aversion = 1 + STALL_AVERSION * risk;
  return { mu: weights.mu * aversion, stall: (weights.stall || 0) * aversion };
}

/** The later segments as a problem. All its seconds are the clock's. */
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
  const lastWorths = worthsAt(state, count + 1);
  const costs = { ...weights, ...stallCostsOf(state, options) };
  const outagesPerSecond = tuning.outagesPerSecond * Math.min(1, (state.nowSeconds / PREPARED_SECONDS) ** 4);
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
      // Without qualities or prices of their own, all segments share the last ones.
      qualities: state.upcomingQualities ? qualitiesAt(state, i + 1) : lastQualities,
      worths: state.upcomingQualities || weights.pricePerMbps ? worthsAt(state, i + 1) : lastWorths,
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
      isEnd ? 0 : (shares[count + 1]! / shares[count]!) * bufferedSecondValue(state, lastWorths, bps),
    ),
    costs,
    outageCostPerSecond: outagesPerSecond * (weights.outage ?? stallCost(costs, OUTAGE_SECONDS)),
    segmentSeconds,
    bufferCapSeconds: state.bufferCapSeconds / playbackRate,
    latencySeconds,
    stallLevelSeconds: tuning.stallLevelSeconds / playbackRate,
    reactionSeconds: options.abandon ? REACTION_SEGMENTS * segmentSeconds : Number.POSITIVE_INFINITY,
    patienceSeconds: tuning.patienceSegments * segmentSeconds,
    // After the segment to decide on, the buffer has this segment and the rest of the present buffer.
    leastLevelSeconds: Math.min(decidedSeconds, ...stages.map(({ seconds }) => seconds)),
    decidedSeconds,
    mostLevelSeconds: state.bufferLevelSeconds / playbackRate + decidedSeconds,
  };
}
