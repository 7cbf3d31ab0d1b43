/** The worker of `run-sessions.ts`: plays sessions and returns their results. */

import { parentPort, workerData } from 'node:worker_threads';
import { importOwnAlgorithms } from '../../own-algorithm.ts';
import { evaluatedModels } from './onnx-evaluator.ts';
import { sessionPlayer, type WorkerSetup, type WorkerTask } from './run-sessions.ts';

const { traces, own, onnx, ...setup } = workerData as WorkerSetup;
const controllers = await importOwnAlgorithms(own);
const play = sessionPlayer({ ...setup, controllers, onnx: await evaluatedModels(onnx) });

parentPort!.on('message', (task: WorkerTask) => {
  parentPort!.postMessage(task.map(({ traceIndex, ...session }) => play({ ...session, trace: traces[traceIndex]! })));
});
