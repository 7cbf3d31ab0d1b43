/** A session's decisions in JSON with all their inputs. */

import type { PathForecast, QuantileForecast, ValidForecast } from '../../../abr/forecast.ts';
import type { Decision, InFlight, PlayerState } from '../../../abr/index.ts';
import type { QoeWeights } from '../../../abr/qoe/qoe.ts';
import type { DecisionEvent } from '../../../session/page/event-types.ts';

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
