/** A session's decisions in JSON with all their inputs, and the same decisions made again from these inputs. */

import type { PathForecast, QuantileForecast, ValidForecast } from '../../../abr/forecast.ts';
import {
  type Controller,
  createController,
  type Decision,
  type InFlight,
  type PlayerState,
} from '../../../abr/index.ts';
import type { QoeWeights } from '../../../abr/qoe/qoe.ts';
import type { DecisionEvent } from '../../../session/page/events.ts';
import { splitAlgorithm } from '../../forecasters.ts';
import type { OwnControllers } from '../../own-algorithm.ts';

export interface DecisionRecord {
  kind: 'decide' | 'abandon';
  representationId: string;
  decision: Decision;
  state: Omit<PlayerState, 'weights'>;
  weights: WeightsRecord;
  inFlight?: InFlight;
  /** JSON cannot hold a path, so a path forecast keeps only its source and time of issue. */
  forecast?: QuantileForecast | Omit<PathForecast, 'path' | 'handovers'>;
}

/** The prices of the plan, and its quality of each bitrate in bit/s. */
interface WeightsRecord extends Omit<QoeWeights, 'quality'> {
  quality: readonly (readonly [bitrateBps: number, quality: number])[];
}

type Recorded = Pick<DecisionEvent, 'kind' | 'decision' | 'state' | 'inFlight' | 'forecast'>;

export function decisionRecord(event: Recorded, representationId: string): DecisionRecord {
  const { kind, decision, inFlight, forecast } = event;
  const { weights, ...state } = event.state;
  const { quality, ...prices } = weights;
  // After a change of the ladder, the previous bitrate may be on no ladder.
  const bitratesBps = new Set([...state.ladderBps, ...(state.previousBitrateBps ? [state.previousBitrateBps] : [])]);
  return {
    ...{ kind, representationId, decision, state },
    weights: { ...prices, quality: [...bitratesBps].map((bps) => [bps, quality(bps)]) },
    ...(inFlight && { inFlight }),
    ...(forecast && { forecast: withoutPath(forecast) }),
  };
}

function withoutPath(forecast: ValidForecast): NonNullable<DecisionRecord['forecast']> {
  if (forecast.kind !== 'path') return forecast;
  const { kind, source, issuedAtMs } = forecast;
  return { kind, source, issuedAtMs };
}

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
  const { controller: name } = splitAlgorithm(algorithm, 'algorithm');
  const controller = own.get(name)?.({ seed }) ?? createController(name, { seed });
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
