/** The worker of `run-sessions.ts`: plays the sessions it is sent and sends back their results. */

import { parentPort, workerData } from 'node:worker_threads';
import { sessionPlayer, type WorkerSetup, type WorkerTask } from './run-sessions.ts';

const { traces, scenario, timings, models } = workerData as WorkerSetup;
const play = sessionPlayer(scenario, timings, models);

parentPort!.on('message', (task: WorkerTask) => {
  parentPort!.postMessage(task.map(({ traceIndex, ...session }) => play({ ...session, trace: traces[traceIndex]! })));
});
