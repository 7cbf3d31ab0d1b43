/** `leo-abr train`: trains a model for the built-in forecaster on recordings. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import type { Trace } from '../../replay/trace.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { collect, jobsOption, seedOption } from '../shared/options.ts';
import { withProgress } from '../shared/progress.ts';
import { requireWritable, STANDARD_OUTPUT, writeOutput } from '../shared/results-file.ts';
import { cacheFolder, TOOL_NAME, TOOL_VERSION } from '../tool.ts';
import { cardMarkdown, dataSources, describeModel } from './model-card.ts';
import { prepareEnvironment, runTraining } from './python.ts';
import { LEAST_RECORDING_SECONDS, writeRows } from './training-rows.ts';

type TrainFlags = Record<'name' | 'seed' | 'jobs' | 'environment', string> &
  Record<'data' | 'leaveOut', string[]> &
  Partial<Record<'out' | 'folds' | 'python', string>>;

export function trainCommand(io: CommandIo): Command {
  const data = 'recordings, or folders with their subfolders (repeatable)';
  const folds =
    'folder for one model per recording group, trained without that group, and folds.json for --fold-models';
  const leaveOut = 'do not train on this data set, only evaluate the folds on it (repeatable)';
  return new Command('train')
    .description('train a model for the built-in forecaster on recordings')
    .requiredOption('--data <file|folder>', data, collect)
    .option('--out <model.json>', 'where the model goes, - for standard output; its card goes beside it as .md')
    .option('--folds <folder>', folds)
    .option('--leave-out <dataset>', leaveOut, collect, [])
    .option('--name <name>', 'name of the model', 'own')
    .option('--seed <n>', 'seed of everything random: the same data and seed give the same bytes', '1')
    .option('--jobs <n>', 'processes; the models do not depend on it', String(io.defaultJobs))
    .option('--python <interpreter>', 'Python 3.11 or later to set up the environment with')
    .option('--environment <folder>', 'folder of the environment, created if missing', join(cacheFolder(), 'training'))
    .action((flags: TrainFlags) => train(flags, io));
}

async function train(flags: TrainFlags, io: CommandIo): Promise<void> {
  const { out, folds, leaveOut, name, python, environment } = flags;
  if ((out ?? folds) === undefined) throw new InputError('--out', '--out, --folds or both', undefined, 'neither');
  check(name.trim() !== '', '--name', 'a name', name);
  const seed = seedOption(flags.seed);
  const jobs = jobsOption(flags.jobs);
  const traces = readTraces(flags.data, { onNote: (note) => io.stderr.write(`${note}\n`) });
  const { kept, leftOut } = withoutLeftOut(traces, leaveOut);
  requireEnough(kept, folds !== undefined);
  requireWritable(out, 'model');
  if (folds !== undefined) requireWritable(join(folds, 'folds.json'), 'folds', '--folds');

  const interpreter = await prepareEnvironment({ environment, python }, io);
  const scratch = mkdtempSync(join(tmpdir(), 'leo-abr-train-'));
  try {
    const rows = join(scratch, 'rows');
    // Only the folds are evaluated on the data sets that are left out.
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
  for (const name of names) check(datasets.includes(name), '--leave-out', `one of ${datasets.join(', ')}`, name);
  const isLeftOut = ({ metadata }: Trace) => names.includes(metadata.dataset);
  return { kept: traces.filter((trace) => !isLeftOut(trace)), leftOut: traces.filter(isLeftOut) };
}

const isLongEnough = ({ durationSeconds }: Trace) => durationSeconds >= LEAST_RECORDING_SECONDS;

/** Throws if the data is too little. The check precedes the set-up of Python. */
function requireEnough(traces: readonly Trace[], folds: boolean): void {
  const long = traces.filter(isLongEnough);
  if (long.length === 0) {
    const longest = Math.max(0, ...traces.map(({ durationSeconds }) => durationSeconds));
    const expected = `a recording of at least ${LEAST_RECORDING_SECONDS} s to train on`;
    const got = traces.length === 0 ? 'nothing but data sets left out' : `${longest} s at most`;
    throw new InputError('--data', expected, undefined, got);
  }
  const [group, ...others] = new Set(long.map(({ metadata }) => metadata.recordingGroup));
  const expected = 'at least two recording groups, one for evaluation and others for training';
  if (folds && others.length === 0) throw new InputError('--folds', expected, undefined, `${group} alone`);
}
