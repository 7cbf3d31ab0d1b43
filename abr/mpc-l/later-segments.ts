/** The segments after the one to decide on, as a problem for the value function. */

import type { PlayerState } from '../controller.ts';
import { horizonOf, qualityOfRate } from '../horizon.ts';
import { sizesAt } from '../ladder.ts';
import { QOE_UNIT_SECONDS } from '../qoe.ts';
import type { Futures } from './futures.ts';
import type { ResolvedMpcLOptions } from './options.ts';
import { rankTransitions } from './rank-chain.ts';
import type { ValueProblem, ValueStage } from './value-function.ts';

/** Transitions are cached for correlations rounded to 1 / this; 1 itself is excluded, so that ranks mix. */
const CORRELATION_STEPS = 100;

/** Share of the plan's score that goes to the worst outcomes instead of the mean, 0 to 1. */
export function tailWeightOf({ tuning, risk }: ResolvedMpcLOptions): number {
  return Math.min(1, tuning.tailWeightSpan * risk);
}

/** Cost of a second of stall in the plan: mu, raised by the aversion to risk. */
export function stallCostOf({ weights }: PlayerState, { tuning, risk }: ResolvedMpcLOptions): number {
  return weights.mu * (tuning.baseAversion + tuning.stallAversionSpan * risk);
}

export class LaterSegments {
  readonly #options: ResolvedMpcLOptions;
  readonly #transitions = new Map<number, Float64Array>();

  constructor(options: ResolvedMpcLOptions) {
    this.#options = options;
  }

  /** The problem for futures that were drawn for this state. Its seconds are the clock's (value-function.ts). */
  problem(state: PlayerState, futures: Futures, latencySeconds: number): ValueProblem {
    const options = this.#options;
    const { tuning } = options;
    const { ladderBps, weights, playbackRate } = state;
    const segmentSeconds = state.segmentSeconds / playbackRate;
    const qualities = Float64Array.from(ladderBps, (bps) => weights.quality(bps));
    const count = Math.max(0, Math.min(horizonOf(state, options), state.segmentsRemaining) - 1);
    const stages: ValueStage[] = [];
    for (let i = 1; i <= count; i++) {
      const seconds = i * segmentSeconds;
      stages.push({
        transitions: this.#transitionsFor(futures.correlationBetween(seconds - segmentSeconds, seconds)),
        sizesBits: sizesAt(state, i),
      });
    }
    const stepEndsSeconds = futures.stepEndsSeconds();
    const isEnd = state.segmentsRemaining <= count + 1;
    return {
      bins: tuning.bins,
      steps: stepEndsSeconds.length,
      stepEndsSeconds,
      capacityBps: futures.marginal,
      bufferLevelSeconds: state.bufferLevelSeconds / playbackRate,
      stages,
      bufferValuePerSecond: isEnd
        ? new Float64Array(tuning.bins)
        : this.#bufferValue(state, qualities, futures.lastMarginal()),
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

  /**
   * Value of a second of buffer to the segments after the horizon, per rank: the quality of the bits that the link
   * delivers in that second.
   */
  #bufferValue({ ladderBps, playbackRate }: PlayerState, qualities: Float64Array, capacityBps: Float64Array) {
    return capacityBps.map((linkBps) => {
      // A player at rate 2 shares the second's bits between two seconds of media.
      const quality = qualityOfRate(ladderBps, qualities, linkBps / playbackRate);
      return ((this.#options.tuning.bufferValue * quality) / QOE_UNIT_SECONDS) * playbackRate;
    });
  }

  #transitionsFor(correlation: number): Float64Array {
    const key = Math.round(correlation * CORRELATION_STEPS);
    let found = this.#transitions.get(key);
    if (found === undefined) {
      const { bins, tailShare } = this.#options.tuning;
      found = rankTransitions(bins, Math.min(CORRELATION_STEPS - 1, key) / CORRELATION_STEPS, {
        weight: tailWeightOf(this.#options),
        tail: tailShare,
      });
      this.#transitions.set(key, found);
    }
    return found;
  }
}
