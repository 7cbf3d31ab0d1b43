/** The segments after the one to decide on, as a problem for the value function. */

import type { PlayerState } from '../controller.ts';
import { bufferedSecondValue, horizonOf } from '../horizon.ts';
import { sizesAt } from '../ladder.ts';
import { QOE_UNIT_SECONDS } from '../qoe.ts';
import { watchShares } from '../watch-time.ts';
import type { Futures } from './futures.ts';
import type { ResolvedMpcLOptions } from './options.ts';
import { rankTransitions } from './rank-chain.ts';
import type { ValueProblem } from './value-function.ts';

/** Largest correlation of ranks, in hundredths: below 1, so that ranks mix. */
const LARGEST_HUNDREDTHS = 99;
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;
/** Until then a session prepares less for outages, by the 4th power: whoever has just come is to see a good picture first. */
const PREPARED_SECONDS = 75;

/** Share of the plan's score that goes to the worst outcomes instead of the mean, 0 to 1. */
export function tailWeightOf({ tuning, risk }: ResolvedMpcLOptions): number {
  return Math.min(1, tuning.tailWeightSpan * risk);
}

/** Cost of a second of stall in the plan: mu, raised by the aversion to risk. */
export function stallCostOf({ weights }: PlayerState, { tuning, risk }: ResolvedMpcLOptions): number {
  return weights.mu * (tuning.baseAversion + tuning.stallAversionSpan * risk);
}

/** The later segments as a problem for futures that were drawn for this state. Its seconds are the clock's. */
export function laterSegments(
  state: PlayerState,
  options: ResolvedMpcLOptions,
  futures: Futures,
  latencySeconds: number,
): ValueProblem {
  const { tuning } = options;
  const { ladderBps, weights, playbackRate, segmentsRemaining } = state;
  const { bins, tailShare } = tuning;
  const tail = { weight: tailWeightOf(options), tail: tailShare };
  const segmentSeconds = state.segmentSeconds / playbackRate;
  const qualities = ladderBps.map((bps) => weights.quality(bps));
  const count = Math.max(0, Math.min(horizonOf(state, options), segmentsRemaining) - 1);
  const stepEndsSeconds = futures.stepEndsSeconds();
  const capacityBps = futures.marginal;
  const lastCapacity = [...capacityBps.subarray((stepEndsSeconds.length - 1) * bins, stepEndsSeconds.length * bins)];
  const shares = watchShares(state, count + 1, options.watchSeconds);
  const isEnd = segmentsRemaining <= count + 1;
  return {
    bins,
    stepEndsSeconds,
    capacityBps,
    bufferLevelSeconds: state.bufferLevelSeconds / playbackRate,
    stages: Array.from({ length: count }, (_, i) => {
      const seconds = (i + 1) * segmentSeconds;
      const correlation = futures.correlationBetween(seconds - segmentSeconds, seconds);
      const hundredths = Math.min(LARGEST_HUNDREDTHS, Math.round(correlation * 100));
      futures.transitions[hundredths] ??= rankTransitions(bins, hundredths / 100, tail).map((p) =>
        p < NEGLIGIBLE ? 0 : p,
      );
      return {
        transitions: futures.transitions[hundredths]!,
        sizesBits: sizesAt(state, i + 1),
        watchShare: shares[i + 1]! / shares[i]!,
      };
    }),
    bufferValuePerSecond: lastCapacity.map((bps) =>
      isEnd
        ? 0
        : (shares[count + 1]! / shares[count]!) * tuning.bufferValue * bufferedSecondValue(state, qualities, bps),
    ),
    qualities,
    qualityScale: state.segmentSeconds / QOE_UNIT_SECONDS,
    mu: stallCostOf(state, options),
    lambda: weights.lambda,
    outagesPerSecond: tuning.outagesPerSecond * Math.min(1, (state.nowSeconds / PREPARED_SECONDS) ** 4),
    segmentSeconds,
    bufferCapSeconds: state.bufferCapSeconds / playbackRate,
    latencySeconds,
    stallLevelSeconds: tuning.stallLevelSeconds / playbackRate,
    reactionSeconds: options.abandon ? tuning.reactionSegments * segmentSeconds : Number.POSITIVE_INFINITY,
    patienceSeconds: tuning.patienceSegments * segmentSeconds,
    // The segment to decide on ends with it in the buffer, and with what is left of the present buffer.
    leastLevelSeconds: segmentSeconds,
    mostLevelSeconds: state.bufferLevelSeconds / playbackRate + segmentSeconds,
  };
}
