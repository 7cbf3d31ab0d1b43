/** The plugin's options for each algorithm of the page. */

import type { Forecaster, LeoAbrOptions } from 'leo-abr';
import { createController } from '../../abr/algorithms.ts';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import { splitPlayer } from '../../replay/forecasters.ts';
import { CLOCK_UNCERTAINTY_SECONDS, informedForecaster, knownHandover } from '../../replay/known-handover.ts';
import { oracleForecaster, oracleForm } from '../../replay/oracle/oracle-forecaster.ts';
import { ownAlgorithm } from '../choice/competitors.ts';
import type { OriginSession } from '../origin/origin-client.ts';
import { SEED } from '../run/run.ts';

export interface PluginSession {
  session: OriginSession;
  /** On the origin's clock of the session's link. */
  nowSeconds(): number;
  risk: number;
  /** MPC-L asks it before its own. */
  forecaster: Forecaster | undefined;
  /** For how long before the session MPC-L has seen the link, and learnt when its handovers are. */
  watchedSeconds: number;
}

/** Whether an algorithm uses the viewer's risk: only MPC-L itself, in any player, with any forecasts, not its ablations. */
export function isTunable(algorithm: string): boolean {
  return /^mpc-l(@service|@onnx(:.*)?)?$/.test(splitPlayer(algorithm).name);
}

/** The options; undefined if the player's own ABR decides. Throws an `InputError` for an unknown algorithm. */
export function pluginOptions(
  algorithm: string,
  { session, nowSeconds, risk, forecaster: first, watchedSeconds }: PluginSession,
): LeoAbrOptions | undefined {
  const { controller, forecaster, catchUp } = browserAlgorithm(algorithm, 'player');
  if (controller === undefined) return undefined;
  const { link, sizes } = session;
  const startUtcMs = link.traceStartUtcMs + link.startSeconds * 1000;
  const common: LeoAbrOptions = {
    // What the page scores.
    qoe: 'linear',
    seed: SEED,
    sizes,
    // The trace's UTC, so that handovers occur when they did in the recording.
    timeSource: {
      now: () => ({ utcMs: startUtcMs + nowSeconds() * 1000, uncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS }),
    },
    logger: null,
  };
  if (isTunable(algorithm)) {
    // Without a prior: compared sessions must not learn from earlier ones.
    const { startSeconds } = link;
    const traffic = { link: new PiecewisePath(link), startSeconds, utcMsAtStart: startUtcMs, watchedSeconds };
    const informed = watchedSeconds > 0 ? [informedForecaster(knownHandover(traffic))] : [];
    return { ...common, risk, prior: false, forecasters: [...(first === undefined ? [] : [first]), ...informed] };
  }
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
  const created =
    ownAlgorithm(controller)?.({ seed: SEED }) ?? createController(controller, { seed: SEED, outlook: true });
  // An explicit catch-up takes the place of the controller's pace.
  if (catchUp) Object.assign(created, { pace: undefined });
  return { ...common, controller: created, forecasters };
}
