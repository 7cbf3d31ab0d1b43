/** Puts the states that a browser logged through the controller once more. */

import { type Controller, createController, type Forecast, type QoeWeights, qoeWeights } from '../../../abr/index.ts';
import { oracleForecaster } from '../../oracle/oracle-forecaster.ts';
import type { ResolvedScenario } from '../../results.ts';
import { linkOf } from '../../simulator/session-setup.ts';
import type { Trace } from '../../trace.ts';
import { browserAlgorithm } from '../algorithms.ts';
import type { DecisionRecord } from '../session-record.ts';
import type { RawSession } from './raw-sessions.ts';

export interface Agreement {
  decisions: number;
  same: number;
}

/** How many decisions of a session come out the same; none for dash.js's own rules, which log nothing. */
export function decideAgain(session: RawSession, scenario: ResolvedScenario, trace: Trace): Agreement {
  const { controller: name, forecaster } = browserAlgorithm(session.algorithm);
  const { decisions } = session.record;
  if (name === undefined) return { decisions: 0, same: 0 };
  const controller = createController(name, { seed: session.seed });
  const weights = { ...qoeWeights('linear', scenario.ladderBps), mu: scenario.mu, lambda: scenario.lambda };
  // The oracle's path is the link from that moment on; the page noted by how much its clock was off.
  const offsetSeconds = session.record.oracleOffsetSeconds ?? session.startSeconds;
  const oracle =
    forecaster === 'oracle'
      ? oracleForecaster({ link: linkOf(trace, scenario), traceSecondsAt: (now) => offsetSeconds + now })
      : undefined;
  let same = 0;
  for (const record of decisions) {
    const forecast = record.forecast && oracle?.latest(record.forecast.issuedAtMs / 1000);
    if (choice(controller, record, weights, forecast) === record.decision.representation) same++;
  }
  return { decisions: decisions.length, same };
}

function choice(
  controller: Controller,
  { kind, state, inFlight }: DecisionRecord,
  weights: QoeWeights,
  forecast: Forecast | undefined,
): number | undefined {
  // JSON has no undefined: what was so is absent.
  const full = { ...state, previousBitrateBps: state.previousBitrateBps, weights };
  if (kind === 'decide') return controller.decide(full, forecast).representation;
  const answer = inFlight && controller.reconsider?.(full, inFlight, forecast);
  return answer === undefined || answer === 'keep' ? undefined : answer.representation;
}
