/** The plugin's options for each algorithm of the page. */

import type { Forecaster, LeoAbrOptions } from 'leo-abr';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { controllerOf } from '../../replay/algorithms.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import { scenarioWeights } from '../../replay/objective.ts';
import { oracleForecaster } from '../../replay/oracle/oracle-forecaster.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import type { Tools } from '../../session/assemble.ts';
import { OWN } from '../choice/competitors.ts';
import type { OriginSession } from '../origin/origin-client.ts';
import { SEED } from '../run/run.ts';

export interface PluginSession {
  session: OriginSession;
  scenario: Scenario;
  /** Returns the time on the origin's clock of the session's link. */
  nowSeconds(): number;
  /** MPC-L asks this forecaster before its own. */
  forecaster: Forecaster | undefined;
}

/** The origin's clock is as exact as the clock of a device that is synchronised with a time server. */
const CLOCK_UNCERTAINTY_SECONDS = 0.01;

/** Returns undefined if the player's own ABR decides. Throws an `InputError` for an unknown algorithm. */
export function pluginOptions(
  algorithm: string,
  { session, scenario, nowSeconds, forecaster: first }: PluginSession,
): { options: LeoAbrOptions; tools: Tools } | undefined {
  const parsed = browserAlgorithm(algorithm, 'player');
  const { controller, ownOf, forecaster, catchUp, objective: qoe } = parsed;
  if (ownOf !== undefined) return undefined;
  const { link, sizes } = session;
  const startUtcMs = link.traceStartUtcMs + link.startSeconds * 1000;
  const tools: Tools = { weightsOf: scenarioWeights(scenario, parsed) };
  const common: LeoAbrOptions = {
    qoe,
    seed: SEED,
    sizes,
    // UTC is the time of the trace, so that handovers occur when they did in the recording.
    timeSource: {
      now: () => ({ utcMs: startUtcMs + nowSeconds() * 1000, uncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS }),
    },
    logger: null,
  };
  // The plugin itself. Its sessions have no prior, because compared sessions must not learn from earlier sessions.
  if (controller === 'mpc-l' && !catchUp && ['built-in', 'service', 'onnx'].includes(forecaster!)) {
    return { options: { ...common, prior: false, forecasters: first ? [first] : [] }, tools };
  }
  const forecasters: Forecaster[] = [];
  if (forecaster === 'oracle') {
    const path = new PiecewisePath({ ...link, latencySeconds: link.rttSeconds });
    const traceSecondsAt = () => link.startSeconds + nowSeconds();
    forecasters.push(oracleForecaster({ link: path, traceSecondsAt, as: parsed.oracleForm }));
  } else if (forecaster) {
    forecasters.push(createBuiltInForecaster({ handover: forecaster !== 'built-in:no-handover' }));
  }
  const created = controllerOf(parsed, SEED, OWN);
  // An explicit catch-up replaces the controller's pace.
  if (catchUp) Object.assign(created, { pace: undefined });
  return { options: { ...common, controller: created, forecasters }, tools };
}
