/** `leo-abr simulate`: compares algorithms on replayed traces in a discrete-event simulator. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { SessionStore } from '../../replay/formats/session-store.ts';
import type { SessionResult } from '../../replay/results.ts';
import { SIMULATED_NAMES, simulatedAlgorithm } from '../../replay/simulator/algorithms.ts';
import { runSessions } from '../../replay/simulator/threads/run-sessions.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, ExitWith } from '../shared/exit-status.ts';
import { jobsOption } from '../shared/options.ts';
import { Progress } from '../shared/progress.ts';
import { TOOL_FOLDER } from '../tool.ts';
import type { Benchmark } from './benchmark.ts';
import { finishBenchmark, sessionStore } from './finish.ts';
import { addBenchmarkOptions } from './flags.ts';
import { prepareBenchmark } from './prepare.ts';

/** Beside the built command. Run from source, there is no worker and one thread plays every session. */
const WORKER_FILE = join(TOOL_FOLDER, 'session-worker.js');

export function simulateCommand(io: CommandIo): Command {
  return addBenchmarkOptions(new Command('simulate'))
    .description('replay traces in the simulator and compare algorithms')
    .option('--playback-rate <r>', 'seconds of media that play per second, 0.25 to 4', '1')
    .option('--jobs <n>', 'threads; results do not depend on it', String(io.defaultJobs))
    .addHelpText(
      'after',
      `\nAlgorithms: ${SIMULATED_NAMES.join(', ')}; <controller>@oracle knows the future,` +
        ' @onnx and @onnx:<file> forecast by an ONNX model; of live streams <name>:lolp-catch-up follows LoL+.',
    )
    .action(async (flags: unknown) => {
      const jobs = jobsOption((flags as { jobs: string }).jobs);
      const benchmark = await prepareBenchmark('simulate', flags, { requireAlgorithm, stderr: io.stderr });
      const store = sessionStore(benchmark);
      try {
        await simulate(benchmark, { jobs, store, io });
      } finally {
        store.close();
      }
    });
}

async function simulate(
  benchmark: Benchmark,
  { jobs, store, io }: { jobs: number; store: SessionStore; io: CommandIo },
): Promise<void> {
  const { stderr } = io;
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  const { perLine } = benchmark;
  const unit = benchmark.household ? 'households' : 'sessions';
  stderr.write(`playing ${benchmark.remains.length} ${unit} of ${benchmark.scenario.name}\n`);
  const progress = new Progress(stderr, benchmark.remains.length, unit);
  let played: SessionResult[];
  try {
    played = await runSessions({
      sessions: benchmark.remains,
      scenario: benchmark.scenario,
      timings: benchmark.timings,
      own: benchmark.own,
      onnx: benchmark.onnx,
      ...(benchmark.foldModels && { models: benchmark.foldModels }),
      jobs,
      ...(existsSync(WORKER_FILE) && { workerFile: WORKER_FILE }),
      signal: stop.signal,
      keep: (sessions) => store.add(sessions),
      onProgress: (done) => progress.update(done),
    });
  } finally {
    stopListening();
  }
  progress.end(played.length / perLine);

  const results = finishBenchmark(benchmark, played, io);
  reportFaults(results.sessions, io);
}

function requireAlgorithm(
  name: string,
  { own, flag }: Parameters<Parameters<typeof prepareBenchmark>[2]['requireAlgorithm']>[1],
): void {
  simulatedAlgorithm(name, own, flag);
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
