/** The worker of `run-sessions.ts`: plays sessions and returns their results. */

import { parentPort, workerData } from 'node:worker_threads';
import { importOwnAlgorithms } from '../own-algorithm.ts';
import { sessionPlayer, type WorkerSetup, type WorkerTask } from './run-sessions.ts';

const { traces, own, ...setup } = workerData as WorkerSetup;
const play = sessionPlayer({ ...setup, controllers: await importOwnAlgorithms(own) });

parentPort!.on('message', (task: WorkerTask) => {
  parentPort!.postMessage(task.map(({ traceIndex, ...session }) => play({ ...session, trace: traces[traceIndex]! })));
});
