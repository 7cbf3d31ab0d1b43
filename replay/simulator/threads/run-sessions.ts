/** Plays a plan's sessions, in this thread or in workers, with the same results. Node only. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type ModelFile, parseModel } from '../../../predictor/forecast/model-file.ts';
import type { ForecastModel } from '../../../predictor/forecast/quantile-forecaster.ts';
import { withLinkNotes } from '../../evaluation/figures/link-notes.ts';
import type { PlannedSession } from '../../evaluation/plan/plan.ts';
import type { OnnxModels } from '../../onnx-model.ts';
import { importOwnAlgorithms, type OwnAlgorithm, type OwnControllers } from '../../own-algorithm.ts';
import { remembered } from '../../remembered.ts';
import type { ResolvedScenario, SessionResult } from '../../results.ts';
import { roundedSession } from '../../session-result.ts';
import type { Trace } from '../../trace.ts';
import { type SimulatedAlgorithm, simulatedAlgorithm } from '../algorithms.ts';
import { playHousehold, simulateSession } from '../play.ts';
import { evaluatedModels } from './onnx-evaluator.ts';

export type ModelsByGroup = Readonly<Record<string, ModelFile>>;

export interface RunSessionsOptions {
  sessions: readonly PlannedSession[];
  scenario: ResolvedScenario;
  /** Measures the decisions' durations. Default false. */
  timings?: boolean;
  /** Models of the built-in forecaster. Default: the shipped model. */
  models?: ModelsByGroup;
  onnx?: OnnxModels | undefined;
  own?: readonly OwnAlgorithm[];
  /** Number of workers. Default 1. */
  jobs?: number;
  /** The built `session-worker.ts`. Default: the sessions play in the calling thread. */
  workerFile?: string;
  signal?: AbortSignal;
  /** Receives the sessions of each line of the plan as they end; returns the sessions to keep. Default: all. */
  keep?(sessions: SessionResult[]): SessionResult[];
  onProgress?(done: number): void;
}

/** The `workerData` of a worker, which then receives `WorkerTask`s and returns their results. */
export interface WorkerSetup
  extends Required<Pick<RunSessionsOptions, 'scenario' | 'timings' | 'models' | 'own' | 'onnx'>> {
  traces: readonly Trace[];
}

export type WorkerTask = readonly (Omit<PlannedSession, 'trace'> & { traceIndex: number })[];

/** Target duration of a worker's task: short enough to stop soon, long enough for few messages. */
const TASK_MS = 100;
const LARGEST_TASK = 256;

/** Resolves to rounded results in the plan's order, without sessions that had not ended at the signal. */
export async function runSessions(options: RunSessionsOptions): Promise<SessionResult[]> {
  const { sessions, own = [], jobs = 1, workerFile } = options;
  const controllers = await importOwnAlgorithms(own);
  for (const algorithm of new Set(sessions.map((session) => session.algorithm))) {
    simulatedAlgorithm(algorithm, controllers);
  }
  const workers = Math.min(jobs, sessions.length);
  // In a worker, a decision that never ends does not keep an interrupt from ending the command.
  const results = new Array<SessionResult[] | undefined>(sessions.length);
  if (workerFile !== undefined) await runInWorkers(options, results, { workers, workerFile });
  else await runHere(options, controllers, results);
  return results.flatMap((result) => result ?? []);
}

/** Returns a function that plays one line of a plan, a session or a household; it caches algorithms and models. */
export function sessionPlayer(
  setup: Pick<RunSessionsOptions, 'scenario' | 'timings' | 'models'> & {
    onnx?: ReadonlyMap<string, ForecastModel>;
    controllers: OwnControllers;
  },
): (session: PlannedSession) => SessionResult[] {
  const { scenario, timings = false, models = {}, onnx, controllers } = setup;
  const algorithms = new Map<string, SimulatedAlgorithm>();
  const parsed = new Map(Object.entries(models).map(([group, file]) => [group, parseModel(file)]));
  const algorithmOf = (name: string) => remembered(algorithms, name, () => simulatedAlgorithm(name, controllers));
  return ({ household, algorithm, ...start }) => {
    const model = parsed.get(start.trace.metadata.recordingGroup);
    const task = { ...start, scenario, timings, model, onnx };
    const played = household
      ? playHousehold(household, task, { algorithm, algorithmOf })
      : [simulateSession(algorithmOf(algorithm)(task))];
    return played.map((session) => roundedSession(withLinkNotes(session, start, scenario)));
  };
}

async function runHere(
  options: RunSessionsOptions,
  controllers: OwnControllers,
  results: (SessionResult[] | undefined)[],
): Promise<void> {
  const { sessions, signal, onProgress, keep = (played) => played } = options;
  const play = sessionPlayer({ ...options, controllers, onnx: await evaluatedModels(options.onnx) });
  let breatheAt = performance.now() + TASK_MS;
  for (let i = 0; i < sessions.length && signal?.aborted !== true; i++) {
    results[i] = keep(play(sessions[i]!));
    if (performance.now() < breatheAt && i + 1 < sessions.length) continue;
    onProgress?.(i + 1);
    // Lets the event loop deliver signals.
    await new Promise((resolve) => setImmediate(resolve));
    breatheAt = performance.now() + TASK_MS;
  }
}

async function runInWorkers(
  options: RunSessionsOptions,
  results: (SessionResult[] | undefined)[],
  { workers, workerFile }: { workers: number; workerFile: string },
): Promise<void> {
  const { sessions, scenario, timings = false, models = {}, own = [], onnx } = options;
  const { signal, onProgress, keep = (played) => played } = options;
  const traces = [...new Set(sessions.map((session) => session.trace))];
  const indexOfTrace = new Map(traces.map((trace, index) => [trace, index]));
  let next = 0;
  let done = 0;
  const workerData: WorkerSetup = { traces, scenario, timings, models, own, onnx };

  const work = async (): Promise<void> => {
    const worker = new Worker(workerFile, { workerData });
    try {
      for (let size = 1; next < sessions.length; ) {
        const first = next;
        const task = sessions.slice(first, first + size);
        next += task.length;
        const begunAt = performance.now();
        worker.postMessage(task.map(({ trace, ...session }) => ({ ...session, traceIndex: indexOfTrace.get(trace)! })));
        const [answer]: SessionResult[][][] = await once(worker, 'message', signal && { signal });
        for (const [i, result] of answer!.entries()) results[first + i] = keep(result);
        done += answer!.length;
        onProgress?.(done);
        const elapsedMs = Math.max(1, performance.now() - begunAt);
        size = Math.max(1, Math.min(LARGEST_TASK, 2 * size, Math.round((size * TASK_MS) / elapsedMs)));
      }
    } catch (error) {
      // After an error in one worker the other workers stop.
      next = sessions.length;
      if (signal?.aborted !== true) throw error;
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}
