/** `leo-abr transport sweep`: compares congestion controls over HTTP/3 by downloads without a browser. */

import { Command } from 'commander';
import { InputError } from '../abr/errors.ts';
import { planBenchmark } from '../replay/evaluation/plan/plan.ts';
import { parseStarts } from '../replay/evaluation/plan/starts.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { impairmentNamed } from '../transport/kernel-steps.ts';
import { quicCongestion, transportObstacle } from '../transport/programs.ts';
import { DEFAULT_FLOWS, playSweep } from '../transport/sweep.ts';
import { noteLeftOut } from './benchmark/prepare.ts';
import { resultRows, resultTable } from './benchmark/result-rows.ts';
import type { CommandIo } from './shared/command-io.ts';
import { collect, decimalNumber, jobsOption, SCALE, scaled, scenarioOption, seedOption } from './shared/options.ts';
import { withProgress } from './shared/progress.ts';
import { requireWritable, writeOutput } from './shared/results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from './tool.ts';

type SweepFlags = Record<'scenario' | 'starts' | 'seconds' | 'impairment' | 'seed' | 'jobs' | 'out', string> & {
  traces: string[];
  flows?: string[];
  scale?: string;
};

export function transportCommand(io: CommandIo): Command {
  const impairment =
    "loss and delay besides the trace's rates: starlink or none, with changes such as starlink,loss=0.02";
  const sweep = new Command('sweep')
    .description('download over HTTP/3 with every setting on every link, in simulated time (Linux, cargo)')
    .requiredOption('--traces <file|folder>', 'trace files, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--scenario <name|file.json>', 'its scale of the traces and its RTT are those of the links')
    .requiredOption('--out <file>', 'where the results go, - for standard output')
    .option('--scale <rule>', SCALE)
    .option('--starts <rule>', 'where in a trace downloads start: every:<seconds> or at:<seconds>,...', 'at:0')
    .option('--flows <setting>', 'such as cubic (repeatable; default: a grid of bbr2 and others)', collect)
    .option('--seconds <s>', 'duration of each download', '20')
    .option('--impairment <name>', impairment, 'starlink')
    .option('--seed <n>', 'seed of the losses', '1')
    .option('--jobs <n>', 'downloads at a time; results do not depend on it', String(io.defaultJobs))
    .action((flags: SweepFlags) => runSweep(flags, io));
  return new Command('transport').description('compare congestion controls over HTTP/3').addCommand(sweep);
}

async function runSweep(flags: SweepFlags, io: CommandIo): Promise<void> {
  const { stderr, stdout } = io;
  const { flows = DEFAULT_FLOWS, out } = flags;
  for (const setting of flows) quicCongestion(setting, '--flows');
  const impairment = impairmentNamed(flags.impairment);
  const seconds = decimalNumber(flags.seconds, '--seconds', 'seconds above 1', (value) => value > 1);
  const [seed, jobs] = [seedOption(flags.seed), jobsOption(flags.jobs)];
  requireWritable(out, 'sweep');
  const read = readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) });
  const { scenario, traces } = scaled(flags, scenarioOption(flags.scenario), read, (text) => stderr.write(text));
  const played = { ...scenario, segmentCount: Math.ceil(seconds / scenario.segmentSeconds) };
  const plan = planBenchmark({
    ...{ traces, scenario: played },
    starts: parseStarts(flags.starts),
    algorithms: flows,
    seed,
  });
  noteLeftOut(plan, played, stderr);
  const obstacle = transportObstacle();
  if (obstacle !== undefined) throw new InputError('transport sweep', 'another machine', undefined, obstacle);

  const rows = await withProgress(io, 'downloads', (watch) =>
    playSweep(plan.sessions, { scenario, impairment, seconds, jobs, ...watch }),
  );
  const tool = { name: TOOL_NAME, version: TOOL_VERSION, commit: toolCommit(), command: 'transport sweep', seed };
  const file = { tool, scenario: scenario.name, impairment: flags.impairment, seconds, rows };
  writeOutput(out, `${JSON.stringify(file)}\n`, stdout);
  stderr.write(resultTable(resultRows(file)));
}
