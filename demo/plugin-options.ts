/** What `attachLeoAbr` is given for each algorithm of the page. */

import { CONTROLLER_NAMES, type ControllerName, type Forecaster, type LeoAbrOptions } from 'leo-abr';
import { createController } from '../abr/algorithms.ts';
import { createBuiltInForecaster } from '../predictor/built-in/built-in-forecaster.ts';
import { browserAlgorithm } from '../replay/browser/algorithms.ts';
import { browserOracle } from '../replay/oracle/browser-oracle.ts';
import { ownAlgorithm } from './competitors.ts';
import type { OriginSession } from './origin-client.ts';

export interface PluginSession {
  session: OriginSession;
  seed: number;
  /** Seconds since the session's first media request; 0 before. */
  nowSeconds(): number;
  /** Of MPC-L, 0 to 1. */
  risk: number;
  /** Forecasts of a prediction service, for who takes them; undefined where there is none. */
  service: Forecaster | undefined;
}

/** Takes forecasts of a prediction service, and the risk that the viewer chose: MPC-L itself; its ablations stay what they are. */
export function isTunable(algorithm: string): boolean {
  return algorithm === 'mpc-l';
}

/** The origin's clock is that of this machine, or of one nearby. */
const CLOCK_UNCERTAINTY_SECONDS = 0.01;

/** The options; undefined where dash.js's own rules play. Throws an `InputError` for an algorithm that there is not. */
export function pluginOptions(
  algorithm: string,
  { session, seed, nowSeconds, risk, service }: PluginSession,
): LeoAbrOptions | undefined {
  const { controller, forecaster } = browserAlgorithm(algorithm, 'player');
  if (controller === undefined) return undefined;
  const { link, sizes } = session;
  const startUtcMs = link.traceStartUtcMs + link.startSeconds * 1000;
  const common: LeoAbrOptions = {
    qoe: 'linear',
    seed,
    sizes,
    // UTC is the trace's: the handovers are where they were in the recording.
    timeSource: {
      now: () => ({ utcMs: startUtcMs + nowSeconds() * 1000, uncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS }),
    },
    logger: null,
  };
  if (isTunable(algorithm)) {
    // Sessions are compared: none may know of an earlier one.
    return { ...common, risk, prior: false, forecasters: service === undefined ? [] : [service] };
  }
  // The plugin's own controllers are taken by name, as any page would; the others exist in replays alone.
  if (isControllerName(algorithm)) return { ...common, controller: algorithm };
  const forecasters =
    forecaster === undefined
      ? []
      : [
          forecaster === 'oracle'
            ? browserOracle(link).forecaster
            : createBuiltInForecaster({ handover: forecaster === 'built-in' }),
        ];
  const own = ownAlgorithm(controller)?.({ seed });
  return { ...common, controller: own ?? createController(controller, { seed, outlook: true }), forecasters };
}

function isControllerName(name: string): name is ControllerName {
  return (CONTROLLER_NAMES as readonly string[]).includes(name);
}
