/** `leo-abr evaluate`: scores forecasts on recordings that their models were not trained on. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Model } from '../../predictor/built-in/model-file.ts';
import { parseModel } from '../../predictor/built-in/parse-model.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
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
  foldModels: string;
  scenario: string;
  latency: string[];
  trained?: boolean;
  qoe: string[];
  python?: string;
  environment: string;
  out: string;
}

export function evaluateCommand(io: CommandIo): Command {
  return new Command('evaluate')
    .description('score forecasts on recordings that their models were not trained on')
    .requiredOption('--traces <file|folder>', 'recordings, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--fold-models <folds.json>', 'model for each recording group, from leo-abr train --folds')
    .option('--scenario <name|file.json>', 'scenario of the sessions that request forecasts', 'uhd-8')
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
    .requiredOption('--out <folder>', 'folder for evaluation.html and evaluation.json')
    .action((flags: unknown) => evaluate(flags as Flags, io));
}

async function evaluate(flags: Flags, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const scenario = scenarioOption(flags.scenario);
  const foldModels = readFoldModels(flags.foldModels);
  const page = join(flags.out, 'evaluation.html');
  requireWritable(page);
  const traces = readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) });
  requireModelOfEachGroup(foldModels, traces, flags.foldModels);
  const models = new Map(Object.entries(foldModels).map(([group, file]) => [group, parseModel(file)]));
  const modelOf = (group: string) => models.get(group)!;
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
  const forecasts = await withProgress(io, 'sessions', (signal, onProgress) =>
    scoreForecasts({ traces, scenario, modelOf, signal, onProgress }),
  );
  const evaluation: Evaluation = {
    schema: 1,
    tool: { name: TOOL_NAME, version: TOOL_VERSION, commit: toolCommit() },
    models: flags.foldModels,
    traces: flags.traces,
    forecasts,
    points,
    qoe,
  };
  writeFileAtomically(join(flags.out, 'evaluation.json'), `${JSON.stringify(evaluation, undefined, 2)}\n`);
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
