/** Makes logged decisions again, from their inputs in the log. */

import type { QuantileForecast, ValidForecast } from '../../../abr/forecast.ts';
import type { Controller } from '../../../abr/index.ts';
import { controllerOf, parseAlgorithm } from '../../algorithms.ts';
import type { OwnControllers } from '../../own-algorithm.ts';
import type { DecisionRecord } from './decisions.ts';

/**
 * Asks a new controller, as the simulator makes it for this algorithm, for each decision again, with the record's state
 * and forecast, which may have been through JSON. Returns pairs: the recorded representation, and the new choice or
 * `keep`. Decisions on a path are left out.
 * @throws {InputError} for an unknown algorithm
 */
export function decidedAgain(
  decisions: readonly DecisionRecord[],
  { algorithm, seed }: { algorithm: string; seed: number },
  own: OwnControllers = new Map(),
): [recorded: number, again: number | 'keep'][] {
  // The player's own ABR is no controller.
  if (decisions.length === 0) return [];
  const controller = controllerOf(parseAlgorithm(algorithm, 'algorithm'), seed, own);
  return decisions.flatMap((record) => {
    if (record.forecast?.kind === 'path') return [];
    const again = answerOf(controller, record);
    return [[record.decision.representation, again === 'keep' ? again : again.representation]];
  });
}

function answerOf(controller: Controller, { kind, state: known, weights, inFlight, forecast }: DecisionRecord) {
  const qualities = new Map(weights.quality);
  const state = {
    ...known,
    // In JSON, Infinity is null.
    segmentsRemaining: known.segmentsRemaining ?? Number.POSITIVE_INFINITY,
    weights: { ...weights, quality: (bitrateBps: number) => qualities.get(bitrateBps)! },
  };
  const valid = forecast as ValidForecast<QuantileForecast> | undefined;
  return kind === 'abandon' ? controller.reconsider!(state, inFlight!, valid) : controller.decide(state, valid);
}
