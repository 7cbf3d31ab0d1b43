/** `leo-abr evaluate`: scores forecasts on recordings that their models were not trained on. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import type { Model } from '../../predictor/built-in/model-file.ts';
import { parseModel } from '../../predictor/built-in/parse-model.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { Trace } from '../../replay/trace.ts';
import type { CommandIo } from '../command-io.ts';
import { collect } from '../flags.ts';
import { readFoldModels, requireModelOfEachGroup } from '../fold-models.ts';
import { withProgress } from '../progress.ts';
import { markdown } from '../report/markdown.ts';
import { requireWritable } from '../results-file.ts';
import { scenarioOption } from '../scenario-option.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from '../tool.ts';
import type { Evaluation } from './evaluation-page.ts';
import { scoreForecasts } from './forecast-scores.ts';
import { readLatencySeries } from './latency-files.ts';
import { scoreLiveForecasts } from './live-scores.ts';
import {
  builtInForecasts,
  HISTORY_SECONDS,
  latencySeries,
  mediansOf,
  type PointSeries,
  type Predictions,
  pointScores,
  simplePredictions,
  throughputSeries,
} from './point-scores.ts';
import { EVALUATION_EXTRA, environmentFolder, prepareEnvironment, runTraining, TRAINING_PROJECT } from './python.ts';
import { qoeByModel, readModelResults } from './qoe-by-model.ts';
import { datasetLabels } from './training-rows.ts';

interface Flags {
  traces: string[];
  foldModels?: string;
  scenario?: string;
  live?: boolean;
  latency: string[];
  trained?: boolean;
  qoe: string[];
  python?: string;
  environment: string;
  out?: string;
}

export function evaluateCommand(io: CommandIo): Command {
  return new Command('evaluate')
    .description('score forecasts on recordings that their models were not trained on')
    .requiredOption('--traces <file|folder>', 'recordings, or folders with their subfolders (repeatable)', collect)
    .option(
      '--fold-models <folds.json>',
      'model for each recording group, from leo-abr train --folds (required; with --live: default: the shipped model)',
    )
    .option(
      '--scenario <name|file.json>',
      'scenario of the sessions that request forecasts (default: "uhd-8", with --live: "live-hd-1")',
    )
    .option('--live', 'instead, print the calibration of the forecasts of 0.1 to 2 s in live sessions')
    .option(
      '--latency <file|folder>',
      'CSV files of round-trip times, for the table of point forecasts (repeatable)',
      collect,
      [],
    )
    .option('--trained', "also train and score XGBoost, LSTM and ARIMA one second ahead, as in T3P's Table 1")
    .option(
      '--qoe <model=results.json>',
      "also compare MPC-L's QoE with each model, from results of leo-abr simulate (repeatable)",
      collect,
      [],
    )
    .option('--python <interpreter>', 'Python 3.11 or later to set up the environment of --trained with')
    .option('--environment <folder>', 'folder of that environment, created if missing', environmentFolder('evaluation'))
    .option('--out <folder>', 'folder for evaluation.html and evaluation.json (required without --live)')
    .action((flags: unknown) => ((flags as Flags).live ? evaluateLive : evaluate)(flags as Flags, io));
}

async function evaluateLive({ scenario: name = 'live-hd-1', ...flags }: Flags, io: CommandIo): Promise<void> {
  const scenario = scenarioOption(name);
  if (scenario.live === undefined) throw new InputError('--scenario', 'a live one with --live', name);
  const traces = readTraces(flags.traces, { onNote: (note) => io.stderr.write(`${note}\n`) });
  const modelOf = flags.foldModels === undefined ? undefined : modelsOf(flags.foldModels, traces);
  const table = await withProgress(io, 'sessions', (watch) =>
    scoreLiveForecasts({ traces, scenario, modelOf, ...watch }),
  );
  const section = { id: 'live', title: 'Calibration', level: 2 as const, blocks: [table] };
  io.stdout.write([...markdown({ title: 'Forecasts within a second', abstract: [], sections: [section] })].join(''));
}

function modelsOf(file: string, traces: readonly Trace[]): (group: string) => Model {
  const foldModels = readFoldModels(file);
  requireModelOfEachGroup(foldModels, traces, file);
  const models = new Map(Object.entries(foldModels).map(([group, model]) => [group, parseModel(model)]));
  return (group) => models.get(group)!;
}

async function evaluate(flags: Flags, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const { foldModels, out } = flags;
  if (foldModels === undefined) throw new InputError('--fold-models', 'a file without --live', foldModels);
  if (out === undefined) throw new InputError('--out', 'a folder without --live', out);
  const scenario = scenarioOption(flags.scenario ?? 'uhd-8');
  const page = join(out, 'evaluation.html');
  requireWritable(page);
  const traces = readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) });
  const modelOf = modelsOf(foldModels, traces);
  const labels = datasetLabels(traces);
  const names = new Map(
    traces.map((trace) => [JSON.stringify([trace.metadata.dataset, trace.name]), labels.get(trace)!]),
  );
  const qoe = qoeByModel(
    readModelResults(flags.qoe, '--qoe'),
    ({ dataset, trace }) => names.get(JSON.stringify([dataset, trace])) ?? dataset,
  );
  const series = [...throughputSeries(traces, labels), ...latencySeries(traces), ...readLatencySeries(flags.latency)];
  // Before the long part, so that errors of the setup come at once.
  const interpreter =
    flags.trained === true
      ? await prepareEnvironment(
          { project: TRAINING_PROJECT, environment: flags.environment, python: flags.python, extra: EVALUATION_EXTRA },
          io,
        )
      : undefined;

  const trained = interpreter === undefined ? {} : await trainedPredictions(series, interpreter, io);
  const points = pointScores(series, { ...predictionsOf(series, modelOf), ...trained });
  const forecasts = await withProgress(io, 'sessions', (watch) =>
    scoreForecasts({ traces, scenario, modelOf, ...watch }),
  );
  const evaluation: Evaluation = {
    schema: 1,
    tool: { name: TOOL_NAME, version: TOOL_VERSION, commit: toolCommit() },
    models: foldModels,
    traces: flags.traces,
    forecasts,
    points,
    qoe,
  };
  writeFileAtomically(join(out, 'evaluation.json'), `${JSON.stringify(evaluation, undefined, 2)}\n`);
  // Imported here, so that other commands start without the plotting library.
  const { evaluationDocument } = await import('./evaluation-page.ts');
  const { html } = await import('../report/html.ts');
  const document = evaluationDocument(evaluation);
  writeFileAtomically(page, [...html(document)].join(''));
  const sections = document.sections.filter(({ blocks }) => blocks.every(({ kind }) => kind !== 'figures'));
  io.stdout.write([...markdown({ ...document, sections })].join(''));
  stderr.write(`wrote ${page} and evaluation.json beside it\n`);
}

function predictionsOf(
  series: readonly PointSeries[],
  modelOf: (group: string) => Model,
): Record<string, (Predictions | undefined)[]> {
  const predictions: Record<string, (Predictions | undefined)[]> = {};
  const put = (name: string, i: number, list: Predictions) => {
    predictions[name] ??= series.map(() => undefined);
    predictions[name][i] = list;
  };
  for (const [i, one] of series.entries()) {
    for (const [name, list] of Object.entries(simplePredictions(one))) put(name, i, list);
    // It forecasts only throughput.
    if (one.kind === 'throughput') put('built-in', i, mediansOf(builtInForecasts(one, { model: modelOf(one.group) })));
  }
  return predictions;
}

async function trainedPredictions(
  series: readonly PointSeries[],
  interpreter: string,
  io: CommandIo,
): Promise<Record<string, (Predictions | undefined)[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-evaluate-'));
  try {
    const [input, out] = [join(folder, 'series.json'), join(folder, 'predictions.json')];
    writeFileSync(input, JSON.stringify({ historySeconds: HISTORY_SECONDS, series }));
    const args = ['--series', input, '--out', out];
    await runTraining({ interpreter, project: TRAINING_PROJECT, module: 'leo_abr_training.points', args }, io);
    const lists: Record<string, (Predictions | null)[]> = JSON.parse(readFileSync(out, 'utf8'));
    return Object.fromEntries(Object.entries(lists).map(([name, of]) => [name, of.map((list) => list ?? undefined)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
