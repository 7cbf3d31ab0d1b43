/** `leo-abr evaluate`: compares trained models with the shipped one, on recordings that they were not trained on. */

import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { SummaryRow } from '../../replay/results.ts';
import type { CommandIo } from '../command-io.ts';
import { collect, readFoldModels, requireModelOfEachGroup, scenarioOption } from '../options.ts';
import { withProgress } from '../progress.ts';
import type { ReportDocument, Section, Table } from '../report/document.ts';
import { estimateCell, fixed, signed } from '../report/format.ts';
import { markdown } from '../report/markdown.ts';
import { requireWritable } from '../results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from '../tool.ts';
import { evaluateModels, MODEL, type ModelScores, SCORED, SHIPPED, type StepScores } from './model-scores.ts';

export interface Evaluation extends ModelScores {
  schema: 3;
  tool: { name: string; version: string; commit: string | null };
  /** The map of models, and the recordings, as given on the command line. */
  models: string;
  traces: readonly string[];
}

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

function evaluationDocument(evaluation: Evaluation): ReportDocument {
  const { tool, models, traces, scenario, starts, forecasts, summary } = evaluation;
  const made = `${tool.name} ${tool.version}${tool.commit === null ? '' : ` (${tool.commit})`}`;
  const section = (id: string, title: string, blocks: Table[]): Section => ({ id, title, level: 2, blocks });
  return {
    title: 'Models, evaluated on recordings left out',
    abstract: [
      `${made}; models of ${models}, each for recordings that it was not trained on; traces: ${traces.join(', ')}.`,
      `Sessions of ${scenario}, starts ${starts}, with MPC-L; one forecast per second is scored.`,
      'Losses are of natural logarithms of rates: 0.1 is about 10 %.',
      'The shipped model may have been trained on these recordings if they are public; its card names its data.',
    ],
    sections: [
      section('qoe', 'QoE', [qoeTable(summary)]),
      ...Object.entries(forecasts).map(([dataset, scores], i) =>
        section(`data-${i + 1}`, dataset, [scoresTable(scores, evaluation)]),
      ),
    ],
  };
}

function qoeTable(summary: readonly SummaryRow[]): Table {
  return {
    kind: 'table',
    caption: `MPC-L with each model; in brackets 95 % intervals of the difference from the ${SHIPPED}.`,
    names: ['recordings', 'forecasts of'],
    numbers: ['sessions', 'QoE', 'stalls, s', 'worst 5 %, s', 'QoE, difference', 'worst 5 %, difference'],
    rows: summary.map(({ dataset, algorithm, sessions, vsBaseline, ...row }) => [
      ...[dataset, algorithm, String(sessions)],
      ...[fixed(row.qoeMean, 2), fixed(row.stallSecondsMean, 2), fixed(row.stallSecondsWorst5pct, 2)],
      estimateCell(vsBaseline?.qoeDiff, { digits: 2 }),
      estimateCell(vsBaseline?.worst5pctDiff, { digits: 2 }),
    ]),
  };
}

function scoresTable(scores: StepScores, { stepEndsSeconds }: ModelScores): Table {
  const { pinball } = scores;
  const against = pinball[MODEL].map((loss, step) => `${signed(100 * (loss / pinball[SHIPPED][step]! - 1), 1)} %`);
  return {
    kind: 'table',
    caption: `${scores.forecasts} forecasts, in numbers.`,
    names: ['score'],
    numbers: stepEndsSeconds.map((end, step) => `${stepEndsSeconds[step - 1] ?? 0}–${end} s`),
    rows: [
      ...SCORED.map((name) => [`pinball loss, ${name}`, ...pinball[name].map((loss) => fixed(loss, 4))]),
      [`pinball loss, ${MODEL} against ${SHIPPED}`, ...against],
    ],
  };
}
