/** The plugin's options for each algorithm of the page. */

import type { Forecaster, LeoAbrOptions } from 'leo-abr';
import { createController, objectiveOf } from '../../abr/algorithms.ts';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import { splitPlayer } from '../../replay/forecasters.ts';
import { scenarioWeights } from '../../replay/objective.ts';
import { oracleForecaster, oracleForm } from '../../replay/oracle/oracle-forecaster.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import type { InternalOptions } from '../../session/page/option-types.ts';
import { ownAlgorithm } from '../choice/competitors.ts';
import type { OriginSession } from '../origin/origin-client.ts';
import { SEED } from '../run/run.ts';

export interface PluginSession {
  session: OriginSession;
  scenario: Scenario;
  /** On the origin's clock of the session's link. */
  nowSeconds(): number;
  /** MPC-L asks it before its own. */
  forecaster: Forecaster | undefined;
}

/** MPC-L itself, with any forecasts, not its ablations. */
const PLUGIN_OWN = /^mpc-l(@service|@onnx(:.*)?)?$/;
/** The origin's clock, and the clock of a device synchronised with a time server. */
const CLOCK_UNCERTAINTY_SECONDS = 0.01;

/** The options; undefined if the player's own ABR decides. Throws an `InputError` for an unknown algorithm. */
export function pluginOptions(
  algorithm: string,
  { session, scenario, nowSeconds, forecaster: first }: PluginSession,
): LeoAbrOptions | undefined {
  const { controller, forecaster, catchUp } = browserAlgorithm(algorithm, 'player');
  if (controller === undefined) return undefined;
  const { link, sizes } = session;
  const startUtcMs = link.traceStartUtcMs + link.startSeconds * 1000;
  const objective = objectiveOf(controller);
  const common: LeoAbrOptions & InternalOptions = {
    qoe: objective,
    weights: scenarioWeights(scenario, objective),
    seed: SEED,
    sizes,
    // The trace's UTC, so that handovers occur when they did in the recording.
    timeSource: {
      now: () => ({ utcMs: startUtcMs + nowSeconds() * 1000, uncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS }),
    },
    logger: null,
  };
  // Without a prior: compared sessions must not learn from earlier ones.
  if (PLUGIN_OWN.test(splitPlayer(algorithm).name))
    return { ...common, prior: false, forecasters: first ? [first] : [] };
  const forecasters: Forecaster[] = [];
  if (forecaster === 'oracle') {
    const path = new PiecewisePath({ ...link, latencySeconds: link.rttSeconds });
    const traceSecondsAt = () => link.startSeconds + nowSeconds();
    forecasters.push(oracleForecaster({ link: path, traceSecondsAt, as: oracleForm(controller) }));
  } else if (forecaster) {
    forecasters.push(
      createBuiltInForecaster({ handover: forecaster === 'built-in', newSubSecond: () => new SubSecond() }),
    );
  }
  const created = ownAlgorithm(controller)?.({ seed: SEED }) ?? createController(controller, { seed: SEED });
  // An explicit catch-up takes the place of the controller's pace.
  if (catchUp) Object.assign(created, { pace: undefined });
  return { ...common, controller: created, forecasters };
}
