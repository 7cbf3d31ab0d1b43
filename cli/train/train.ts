/** `leo-abr train`: trains a model for the built-in forecaster on recordings. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import type { Trace } from '../../replay/trace.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { collect, jobsOption, seedOption } from '../shared/options.ts';
import { withProgress } from '../shared/progress.ts';
import { requireWritable, STANDARD_OUTPUT, writeOutput } from '../shared/results-file.ts';
import { TOOL_NAME, TOOL_VERSION } from '../tool.ts';
import { cardMarkdown, dataSources, describeModel } from './model-card.ts';
import { environmentFolder, prepareEnvironment, runTraining } from './python.ts';
import { groupsApart, LEAST_RECORDING_SECONDS, writeRows } from './training-rows.ts';

interface TrainFlags {
  data: string[];
  out?: string;
  folds?: string;
  leaveOut: string[];
  name: string;
  seed: string;
  jobs: string;
  python?: string;
  environment: string;
}

export function trainCommand(io: CommandIo): Command {
  return new Command('train')
    .description('train a model for the built-in forecaster on recordings')
    .requiredOption(
      '--data <file|folder>',
      'recordings, reports with observations, or folders with their subfolders (repeatable)',
      collect,
    )
    .option('--out <model.json>', 'where the model goes, - for standard output; its card goes beside it as .md')
    .option(
      '--folds <folder>',
      'folder for one model per recording group, trained without that group, and folds.json for --fold-models',
    )
    .option(
      '--leave-out <dataset>',
      'do not train on this data set, only evaluate the folds on it (repeatable)',
      collect,
      [],
    )
    .option('--name <name>', 'name of the model', 'own')
    .option('--seed <n>', 'seed of everything random: the same data and seed give the same bytes', '1')
    .option('--jobs <n>', 'processes; the models do not depend on it', String(io.defaultJobs))
    .option('--python <interpreter>', 'Python 3.11 or later to set up the environment with')
    .option('--environment <folder>', 'folder of the environment, created if missing', environmentFolder())
    .action((flags: unknown) => train(flags as TrainFlags, io));
}

async function train(flags: TrainFlags, io: CommandIo): Promise<void> {
  const { out, folds, leaveOut, name, python, environment } = flags;
  if (out === undefined && folds === undefined) {
    throw new InputError('--out', '--out, --folds or both', undefined, 'neither');
  }
  if (name.trim() === '') throw new InputError('--name', 'a name', name);
  const seed = seedOption(flags.seed);
  const jobs = jobsOption(flags.jobs);
  const traces = readTraces(flags.data, { onNote: (note) => io.stderr.write(`${note}\n`) });
  const { kept, leftOut } = withoutLeftOut(traces, leaveOut);
  requireEnough(kept, folds !== undefined);
  if (out !== undefined) requireWritable(out);
  if (folds !== undefined) requireWritable(join(folds, 'folds.json'), '--folds');

  const interpreter = await prepareEnvironment({ environment, python }, io);
  const scratch = mkdtempSync(join(tmpdir(), 'leo-abr-train-'));
  try {
    const rows = join(scratch, 'rows');
    // The folds are evaluated on the data sets left out; a single model does not need them.
    const played = { traces: folds === undefined ? kept : traces, seed, leftOut: leaveOut, folder: rows };
    await withProgress(io, 'sessions', (watch) => writeRows({ ...played, ...watch }));
    const model = join(scratch, 'model.json');
    const args = ['--rows', rows, '--name', name, '--seed', String(seed), '--jobs', String(jobs)];
    if (folds !== undefined) args.push('--folds', folds);
    if (out !== undefined) args.push('--model', model);
    await runTraining(interpreter, args, io);
    if (out !== undefined) {
      const trained = JSON.parse(readFileSync(model, 'utf8'));
      parseModel(trained, 'trained');
      const tool = { name: TOOL_NAME, version: TOOL_VERSION };
      const data = dataSources(kept.filter(isLongEnough));
      const described = describeModel(trained, { tool, data, leftOut: dataSources(leftOut) });
      writeOutput(out, `${JSON.stringify(described, undefined, 2)}\n`, io.stdout);
      if (out === STANDARD_OUTPUT) return;
      const card = join(dirname(out), `${basename(out).replace(/\.json$/, '')}.md`);
      writeOutput(card, cardMarkdown(described), io.stdout);
      io.stderr.write(`wrote ${out} and its card ${card}\n`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function withoutLeftOut(traces: readonly Trace[], names: readonly string[]): { kept: Trace[]; leftOut: Trace[] } {
  const datasets = [...new Set(traces.map(({ metadata }) => metadata.dataset))].sort();
  for (const name of names) {
    if (datasets.includes(name)) continue;
    throw new InputError('--leave-out', `one of ${datasets.join(', ')}`, name);
  }
  const isLeftOut = ({ metadata }: Trace) => names.includes(metadata.dataset);
  return { kept: traces.filter((trace) => !isLeftOut(trace)), leftOut: traces.filter(isLeftOut) };
}

function isLongEnough({ durationSeconds }: Trace): boolean {
  return durationSeconds >= LEAST_RECORDING_SECONDS;
}

/** Throws, before Python is set up, if there is too little data. */
function requireEnough(traces: readonly Trace[], folds: boolean): void {
  const long = traces.filter(isLongEnough);
  if (long.length === 0) {
    const longest = Math.max(0, ...traces.map(({ durationSeconds }) => durationSeconds));
    const expected = `a recording of at least ${LEAST_RECORDING_SECONDS} s to train on`;
    const got = traces.length === 0 ? 'nothing but data sets left out' : `${longest} s at most`;
    throw new InputError('--data', expected, undefined, got);
  }
  const groups = [...new Set(long.map(({ metadata }) => metadata.recordingGroup))];
  const isAlone = groupsApart(long, groups).some((apart) => apart.length + 1 === groups.length);
  if (folds && isAlone) {
    const expected =
      'at least two recording groups, one for evaluation and others (of reports: of other viewers and days) for training';
    throw new InputError('--folds', expected, undefined, `${groups.join(', ')} alone`);
  }
}
