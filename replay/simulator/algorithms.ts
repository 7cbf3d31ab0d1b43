/** The names that `--algorithms` accepts in the simulator, and how each plays a session. */

import { describeValue, InputError, unknownName } from '../../abr/errors.ts';
import {
  ALGORITHM_NAMES,
  type Controller,
  createController,
  type Forecaster,
  objectiveOf,
  pricePerMbpsOf,
} from '../../abr/index.ts';
import { createBolaE, createDynamic } from '../../abr/rules/dash-js/dash-rules.ts';
import {
  type BuiltInForecasterOptions,
  createBuiltInForecaster,
} from '../../predictor/forecast/built-in-forecaster.ts';
import type { Model } from '../../predictor/forecast/quantile-network.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { EvaluatedForecaster, type EvaluatedModel } from '../../predictor/onnx/card-session.ts';
import { type ForecasterName, isOnnx, type OnnxName, splitAlgorithm } from '../forecasters.ts';
import { oracleForecaster, oracleForm } from '../oracle/oracle-forecaster.ts';
import type { OwnControllers } from '../own-algorithm.ts';
import type { ResolvedScenario } from '../results.ts';
import { linkOf } from './session-setup.ts';
import type { SimulationOptions } from './simulation-options.ts';

export interface SessionTask
  extends Required<Pick<SimulationOptions, 'trace' | 'startSeconds' | 'segmentCount' | 'seed' | 'timings'>>,
    Pick<SimulationOptions, 'access'> {
  scenario: ResolvedScenario;
  /** The built-in forecaster's model. Default: the shipped model. */
  model?: Model | undefined;
  onnx?: ReadonlyMap<string, EvaluatedModel> | undefined;
}

/** How an algorithm plays a session. */
export type SimulatedAlgorithm = (task: SessionTask) => SimulationOptions;

interface Wanted {
  task: SessionTask;
  controller: string;
  /** The trace's second at a second of the session's clock. */
  traceSecondsAt(nowSeconds: number): number;
}

const FORECASTERS: Record<Exclude<ForecasterName, OnnxName | 'service'>, (wanted: Wanted) => Forecaster> = {
  oracle: ({ task: { trace, scenario }, controller, traceSecondsAt }) =>
    oracleForecaster({ link: linkOf(trace, scenario), traceSecondsAt, as: oracleForm(controller) }),
  'built-in': ({ task }) => builtIn(task),
  'built-in:no-handover': ({ task }) => builtIn(task, { handover: false }),
  shipped: ({ task }) => builtIn({ ...task, model: undefined }),
};

function builtIn({ model, scenario }: SessionTask, options: BuiltInForecasterOptions = {}): Forecaster {
  return createBuiltInForecaster({ model, subSecond: scenario.live !== undefined, ...options });
}

function newForecaster(name: Exclude<ForecasterName, 'service'>, wanted: Wanted): Forecaster {
  if (!isOnnx(name)) return FORECASTERS[name](wanted);
  const { scenario, onnx } = wanted.task;
  return new EvaluatedForecaster(onnx!.get(name)!, { newSubSecond: scenario.live && (() => new SubSecond()) });
}

/** Rebuilt rules of dash.js, which are not in the plugin. A browser plays these names with dash.js itself. */
const DASHJS_OWN: ReadonlyMap<string, () => Controller> = new Map([
  ['bola-e', createBolaE],
  ['dynamic', createDynamic],
]);

/** Rules of dash.js that are not rebuilt. */
const BROWSER_ONLY = ['l2a', 'lolp'];

export const SIMULATED_NAMES: readonly string[] = [...ALGORITHM_NAMES, ...DASHJS_OWN.keys()];

/** The algorithm of a name (`splitAlgorithm`) or a file in `own`. @throws {InputError} with the known names. */
export function simulatedAlgorithm(
  name: string,
  own: OwnControllers = new Map(),
  field = '--algorithms',
): SimulatedAlgorithm {
  if (BROWSER_ONLY.includes(name)) {
    const got = `${describeValue(name)}, a rule of dash.js, which only a browser runs: leo-abr bench`;
    throw new InputError(field, `an algorithm of the simulator (${SIMULATED_NAMES.join(', ')})`, undefined, got);
  }
  const { controller, forecaster, catchUp, player } = splitAlgorithm(name, field);
  const create = own.get(controller) ?? DASHJS_OWN.get(controller);
  if (player !== undefined || (create === undefined && !ALGORITHM_NAMES.includes(controller))) {
    throw unknownName(field, SIMULATED_NAMES, name, ', or a file (./mine.ts)');
  }
  if (forecaster === 'service') {
    const why = 'the service is a program beside the link, which counts in real time: leo-abr bench';
    throw new InputError(field, 'a forecaster of the simulator', undefined, `${describeValue(name)}; ${why}`);
  }
  return (task) => ({
    ...task,
    algorithm: name,
    objective: objectiveOf(controller),
    pricePerMbps: pricePerMbpsOf(controller),
    catchUp,
    controller: create?.({ seed: task.seed }) ?? createController(controller, { seed: task.seed }),
    // Rules of dash.js and own algorithms may look back further than the plugin's controllers.
    downloadsKept: create && Number.POSITIVE_INFINITY,
    forecaster: forecaster && ((traceSecondsAt) => newForecaster(forecaster, { task, controller, traceSecondsAt })),
  });
}
