/** The names that `--algorithms` accepts in the simulator, and how each plays a session. */

import { describeValue, InputError, unknownName } from '../../abr/errors.ts';
import type { Forecaster } from '../../abr/index.ts';
import {
  type BuiltInForecasterOptions,
  createBuiltInForecaster,
} from '../../predictor/forecast/built-in-forecaster.ts';
import { type ForecastModel, type Model, QuantileForecaster } from '../../predictor/forecast/quantile-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import {
  type Algorithm,
  controllerOf,
  type ForecasterName,
  isOnnx,
  type OnnxName,
  parseAlgorithm,
  SIMULATED_NAMES,
} from '../algorithms.ts';
import { linkOf } from '../link/trace-link.ts';
import { oracleForecaster } from '../oracle/oracle-forecaster.ts';
import type { OwnControllers } from '../own-algorithm.ts';
import type { ResolvedScenario } from '../results.ts';
import type { SimulationOptions } from './simulation-options.ts';

export interface SessionTask
  extends Required<Pick<SimulationOptions, 'trace' | 'startSeconds' | 'segmentCount' | 'seed' | 'timings'>>,
    Pick<SimulationOptions, 'access'> {
  scenario: ResolvedScenario;
  /** The built-in forecaster's model. Default: the shipped model. */
  model?: Model | undefined;
  onnx?: ReadonlyMap<string, ForecastModel> | undefined;
}

/** How an algorithm plays a session. */
export type SimulatedAlgorithm = (task: SessionTask) => SimulationOptions;

interface Wanted {
  task: SessionTask;
  algorithm: Algorithm;
  /** The trace's second at a second of the session's clock. */
  traceSecondsAt(nowSeconds: number): number;
}

const FORECASTERS: Record<Exclude<ForecasterName, OnnxName | 'service'>, (wanted: Wanted) => Forecaster> = {
  oracle: ({ task: { trace, scenario }, algorithm, traceSecondsAt }) =>
    oracleForecaster({ link: linkOf(trace, scenario), traceSecondsAt, as: algorithm.oracleForm }),
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
  const forecaster = new QuantileForecaster('onnx', { newSubSecond: scenario.live && (() => new SubSecond()) });
  forecaster.useModel(onnx!.get(name)!);
  return forecaster;
}

/** The algorithm of a name (`parseAlgorithm`) or a file in `own`. @throws {InputError} with the known names. */
export function simulatedAlgorithm(
  name: string,
  own: OwnControllers = new Map(),
  field = '--algorithms',
): SimulatedAlgorithm {
  const algorithm = parseAlgorithm(name, field);
  const { controller, isKnown, ownOf, forecaster, catchUp, player } = algorithm;
  const { objective, pricePerMbps, learnsSizes } = algorithm;
  const isSimulated = own.has(controller) || SIMULATED_NAMES.includes(controller);
  if (isKnown && !isSimulated) {
    const got = `${describeValue(name)}, which only a browser plays: leo-abr bench`;
    throw new InputError(field, `an algorithm of the simulator (${SIMULATED_NAMES.join(', ')})`, undefined, got);
  }
  if (player !== undefined || !isSimulated) throw unknownName(field, SIMULATED_NAMES, name, ', or a file (./mine.ts)');
  if (forecaster === 'service') {
    const why = 'the service is a program beside the link, which counts in real time: leo-abr bench';
    throw new InputError(field, 'a forecaster of the simulator', undefined, `${describeValue(name)}; ${why}`);
  }
  return (task) => ({
    ...task,
    ...{ algorithm: name, objective, pricePerMbps, learnsSizes, catchUp },
    controller: controllerOf(algorithm, task.seed, own),
    // Rules of dash.js and own algorithms may look back further than the plugin's controllers.
    downloadsKept: ownOf || !isKnown ? Number.POSITIVE_INFINITY : undefined,
    forecaster: forecaster && ((traceSecondsAt) => newForecaster(forecaster, { task, algorithm, traceSecondsAt })),
  });
}
