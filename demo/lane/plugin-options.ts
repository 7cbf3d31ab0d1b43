/** The plugin's options for each algorithm of the page. */

import type { Forecaster, LeoAbrOptions } from 'leo-abr';
import { createController, objectiveOf, pricePerMbpsOf } from '../../abr/algorithms.ts';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import { splitPlayer } from '../../replay/forecasters.ts';
import { scenarioWeights } from '../../replay/objective.ts';
import { oracleForecaster, oracleForm } from '../../replay/oracle/oracle-forecaster.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import type { Tools } from '../../session/assemble.ts';
import { ownAlgorithm } from '../choice/competitors.ts';
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

/** Matches MPC-L with any forecasts, but not its ablations. */
const PLUGIN_OWN = /^mpc-l(@service|@onnx)?$/;
/** The origin's clock is as exact as the clock of a device that is synchronised with a time server. */
const CLOCK_UNCERTAINTY_SECONDS = 0.01;

/** Returns undefined if the player's own ABR decides. Throws an `InputError` for an unknown algorithm. */
export function pluginOptions(
  algorithm: string,
  { session, scenario, nowSeconds, forecaster: first }: PluginSession,
): { options: LeoAbrOptions; tools: Tools } | undefined {
  const { controller, forecaster, catchUp } = browserAlgorithm(algorithm, 'player');
  if (controller === undefined) return undefined;
  const { link, sizes } = session;
  const startUtcMs = link.traceStartUtcMs + link.startSeconds * 1000;
  const objective = objectiveOf(controller);
  const tools: Tools = { weightsOf: scenarioWeights(scenario, objective, pricePerMbpsOf(controller)) };
  const common: LeoAbrOptions = {
    qoe: objective,
    seed: SEED,
    sizes,
    // UTC is the time of the trace, so that handovers occur when they did in the recording.
    timeSource: {
      now: () => ({ utcMs: startUtcMs + nowSeconds() * 1000, uncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS }),
    },
    logger: null,
  };
  // The sessions have no prior, because compared sessions must not learn from earlier sessions.
  const isPlugin = PLUGIN_OWN.test(splitPlayer(algorithm).name);
  if (isPlugin) return { options: { ...common, prior: false, forecasters: first ? [first] : [] }, tools };
  const forecasters: Forecaster[] = [];
  if (forecaster === 'oracle') {
    const path = new PiecewisePath({ ...link, latencySeconds: link.rttSeconds });
    const traceSecondsAt = () => link.startSeconds + nowSeconds();
    forecasters.push(oracleForecaster({ link: path, traceSecondsAt, as: oracleForm(controller) }));
  } else if (forecaster) {
    const handover = forecaster !== 'built-in:no-handover';
    forecasters.push(createBuiltInForecaster({ handover }));
  }
  const created = ownAlgorithm(controller)?.({ seed: SEED }) ?? createController(controller, { seed: SEED });
  // An explicit catch-up replaces the controller's pace.
  if (catchUp) Object.assign(created, { pace: undefined });
  return { options: { ...common, controller: created, forecasters }, tools };
}
