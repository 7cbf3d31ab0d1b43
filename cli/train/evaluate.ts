/** `leo-abr evaluate`: compares trained models with the shipped one, on recordings that they were not trained on. */

import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { CommandIo } from '../command-io.ts';
import { collect, readFoldModels, requireModelOfEachGroup, scenarioOption } from '../options.ts';
import { withProgress } from '../progress.ts';
import { markdown } from '../report/markdown.ts';
import { requireWritable } from '../results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from '../tool.ts';
import { type Evaluation, evaluationDocument } from './evaluation-tables.ts';
import { evaluateModels } from './model-scores.ts';

interface Flags {
  traces: string[];
  foldModels: string;
  scenario: string;
  out: string;
}

export function evaluateCommand(io: CommandIo): Command {
  return new Command('evaluate')
    .description('compare trained models with the shipped one: pinball loss, and QoE in the simulator')
    .requiredOption('--traces <file|folder>', 'recordings, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--fold-models <folds.json>', 'model for each recording group, from leo-abr train --folds')
    .option('--scenario <name|file.json>', 'scenario of the sessions', 'uhd-8')
    .requiredOption('--out <evaluation.json>', 'where the scores go; their tables go to standard output')
    .action((flags: unknown) => evaluate(flags as Flags, io));
}

async function evaluate({ traces: paths, foldModels, out, ...flags }: Flags, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const scenario = scenarioOption(flags.scenario);
  if (scenario.live !== undefined) {
    throw new InputError('--scenario', 'one on demand; for live streams use simulate --fold-models', scenario.name);
  }
  requireWritable(out);
  const traces = readTraces(paths, { onNote: (note) => stderr.write(`${note}\n`) });
  const files = readFoldModels(foldModels);
  requireModelOfEachGroup(files, traces, foldModels);
  const models = new Map(Object.entries(files).map(([group, model]) => [group, parseModel(model)]));
  const scores = await withProgress(io, 'sessions', (watch) =>
    evaluateModels({ traces, scenario, modelOf: (group) => models.get(group)!, ...watch }),
  );
  const evaluation: Evaluation = {
    schema: 3,
    tool: { name: TOOL_NAME, version: TOOL_VERSION, commit: toolCommit() },
    models: foldModels,
    traces: paths,
    ...scores,
  };
  writeFileAtomically(out, `${JSON.stringify(evaluation, undefined, 2)}\n`);
  io.stdout.write([...markdown(evaluationDocument(evaluation))].join(''));
  stderr.write(`wrote ${out}\n`);
}
