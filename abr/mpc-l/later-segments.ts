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

/** Transitions are cached for correlations rounded to 1 / this; 1 itself is excluded, so that ranks mix. */
const CORRELATION_STEPS = 100;
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;

/** By the options, which do not change, and the correlation. */
const MATRICES = new WeakMap<ResolvedMpcLOptions, Map<number, Float64Array>>();

function transitionsFor(options: ResolvedMpcLOptions, correlation: number): Float64Array {
  const { bins, tailShare } = options.tuning;
  const rounded = Math.min(CORRELATION_STEPS - 1, Math.round(correlation * CORRELATION_STEPS)) / CORRELATION_STEPS;
  const matrices = MATRICES.get(options) ?? new Map();
  const matrix =
    matrices.get(rounded) ??
    rankTransitions(bins, rounded, { weight: tailWeightOf(options), tail: tailShare }).map((p) =>
      p < NEGLIGIBLE ? 0 : p,
    );
  MATRICES.set(options, matrices.set(rounded, matrix));
  return matrix;
}

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
  const { bins } = tuning;
  const segmentSeconds = state.segmentSeconds / playbackRate;
  const qualities = ladderBps.map((bps) => weights.quality(bps));
  const count = Math.max(0, Math.min(horizonOf(state, options), segmentsRemaining) - 1);
  const stepEndsSeconds = futures.stepEndsSeconds();
  const lastCapacity = [...futures.marginal.subarray(0, stepEndsSeconds.length * bins)].slice(-bins);
  const shares = watchShares(state, count + 1, options.watchSeconds);
  const isEnd = segmentsRemaining <= count + 1;
  return {
    bins,
    stepEndsSeconds,
    capacityBps: futures.marginal,
    bufferLevelSeconds: state.bufferLevelSeconds / playbackRate,
    stages: Array.from({ length: count }, (_, i) => {
      const seconds = (i + 1) * segmentSeconds;
      return {
        transitions: transitionsFor(options, futures.correlationBetween(seconds - segmentSeconds, seconds)),
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
