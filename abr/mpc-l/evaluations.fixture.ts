/** MPC-L's intermediate results, for tests. */

import type { PlayerState } from '../controller.ts';
import type { QuantileForecast } from '../forecast.ts';
import { CapacityRanks, Futures } from './futures.ts';
import { type MpcLOptions, resolveMpcLOptions } from './options.ts';
import { type Evaluation, laterSegments, SegmentOutcomes, tailWeightOf } from './segment-outcomes.ts';
import { MOST_BINS, ValueFunction } from './value-function.ts';

const LATENCY_SECONDS = 0.05;

/** Futures, ranks, value function and outcomes of a state. */
export function planOf(state: PlayerState, forecast: QuantileForecast, given: MpcLOptions = {}) {
  const options = resolveMpcLOptions(given);
  const futures = new Futures(options.tuning.futures, options.seed);
  const ranks = new CapacityRanks(MOST_BINS, tailWeightOf(options));
  futures.draw(forecast, state.nowSeconds - forecast.issuedAtMs / 1000);
  const later = new ValueFunction(laterSegments(state, options, futures.steps, ranks, LATENCY_SECONDS));
  const outcomes = new SegmentOutcomes(state, options, futures, ranks);
  return { futures, ranks, later, outcomes };
}

/** One evaluation per representation, for requests sent now with a latency of 0.05 s. */
export function evaluationsOf(state: PlayerState, forecast: QuantileForecast, options: MpcLOptions = {}): Evaluation[] {
  const { outcomes } = planOf(state, forecast, options);
  return state.ladderBps.map((_, r) => outcomes.evaluate(outcomes.newRequest(r)));
}
