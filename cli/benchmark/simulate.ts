/** `leo-abr simulate`: compares algorithms on replayed traces in a discrete-event simulator. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { SIMULATED_NAMES } from '../../replay/algorithms.ts';
import type { SessionResult } from '../../replay/results.ts';
import { simulatedAlgorithm } from '../../replay/simulator/algorithms.ts';
import { runSessions } from '../../replay/simulator/threads/run-sessions.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, ExitWith } from '../shared/exit-status.ts';
import { jobsOption } from '../shared/options.ts';
import { Progress } from '../shared/progress.ts';
import { TOOL_FOLDER } from '../tool.ts';
import { finishBenchmark, sessionStore } from './finish.ts';
import { addBenchmarkOptions, type BenchmarkFlags } from './flags.ts';
import { prepareBenchmark } from './prepare.ts';

/** The build puts the worker beside the command. From source, one thread plays every session. */
const WORKER_FILE = join(TOOL_FOLDER, 'session-worker.js');

export function simulateCommand(io: CommandIo): Command {
  return addBenchmarkOptions(new Command('simulate'))
    .description('replay traces in the simulator and compare algorithms')
    .option('--jobs <n>', 'threads; results do not depend on it', String(io.defaultJobs))
    .addHelpText(
      'after',
      `\nAlgorithms: ${SIMULATED_NAMES.join(', ')}; an mpc-l, or a file, as <name>@oracle knows the future,` +
        ' as @onnx and @onnx:<file> forecasts by an ONNX model; of live streams <name>:lolp-catch-up follows LoL+.',
    )
    .action((flags: BenchmarkFlags & { jobs: string }) => simulate(flags, io));
}

async function simulate(flags: BenchmarkFlags & { jobs: string }, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const jobs = jobsOption(flags.jobs);
  const benchmark = await prepareBenchmark('simulate', flags, { requireAlgorithm: simulatedAlgorithm, stderr });
  const { perLine, timings, remains: sessions, scenario, own, onnx, foldModels, household } = benchmark;
  const store = sessionStore(benchmark);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const unit = household ? 'households' : 'sessions';
    stderr.write(`playing ${sessions.length} ${unit} of ${scenario.name}\n`);
    const progress = new Progress(stderr, sessions.length, unit);
    const played = await runSessions({
      ...{ sessions, scenario, timings, own, onnx, jobs, signal: stop.signal },
      ...(foldModels && { models: foldModels }),
      ...(existsSync(WORKER_FILE) && { workerFile: WORKER_FILE }),
      keep: (all) => store.add(all),
      onProgress: (done) => progress.update(done),
    });
    progress.end(played.length / perLine);
    reportFaults(finishBenchmark(benchmark, played, io).sessions, io);
  } finally {
    stopListening();
    store.close();
  }
}

/** Prints the first fault and ends the command with status 1, if a controller failed. */
function reportFaults(sessions: readonly SessionResult[], io: CommandIo): void {
  const faulty = sessions.filter((session) => session.endedBy === 'fault');
  const [first] = faulty;
  if (first === undefined) return;
  const { algorithm, trace, startSeconds, fault } = first;
  const place = `${algorithm} on ${trace} at ${startSeconds} s`;
  io.stderr.write(`${faulty.length} sessions ended by a fault, the first: ${place}: ${fault}\n`);
  throw new ExitWith(EXIT_FAULT);
}
