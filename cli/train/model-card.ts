/** The card of a model: in its file for programs, beside it for people. */

import type { ModelFile } from '../../predictor/forecast/model-file.ts';
import { FEATURES, type Feature } from '../../predictor/link/features.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import type { Trace } from '../../replay/trace.ts';

/** Scores of one data set. Arrays have a value per step of the forecast. */
interface DatasetScores {
  rows: number;
  /** Pinball loss of natural logarithms of rates, the mean over the quantile levels. */
  pinball: number[];
  /** Shares of outcomes in the central intervals, before any recalibration. */
  coverage50: number[];
  coverage90: number[];
  rankCorrelation: number;
}

/** Notes of the training. predictor/training writes them as `fit`. */
interface Fit {
  settings: Record<string, unknown>;
  seed: number;
  rows: number;
  numpy: string;
  /** If false, the scores are on the training data. */
  scoresAreHeldOut: boolean;
  scores: { stepEndsSeconds: number[]; datasets: Record<string, DatasetScores> };
  /** Inputs and the model's outputs for them, `[step * levels + level]`. */
  golden: { features: number[]; logRatios: number[] }[];
}

type DataSource = ReturnType<typeof dataSources>[number];

interface TrainedCard {
  tool: { name: string; version: string };
  /** Descriptions in the order of the model's features. */
  inputs: readonly Feature[];
  outputs: string;
  data: DataSource[];
  leftOut: DataSource[];
  fit: Fit;
}

export type DescribedModel = ModelFile & { card: TrainedCard };

/** Sums up the recordings of each data set. The licences are those that sidecars name. */
export function dataSources(traces: readonly Trace[]) {
  const byName = groupBy(traces, ({ metadata }) => metadata.dataset);
  return [...byName.keys()].sort().map((dataset) => {
    const of = byName.get(dataset)!;
    return {
      dataset,
      licences: [...new Set(of.map(({ metadata }) => metadata.licence ?? 'not stated'))].sort(),
      groups: [...new Set(of.map(({ metadata }) => metadata.recordingGroup))].sort(),
      recordings: of.length,
      seconds: Math.round(of.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)),
    };
  });
}

/** Makes the model with its card of a model file with `fit`, as predictor/training writes it. */
export function describeModel(
  { fit, ...model }: ModelFile & { fit: Fit },
  { tool, data, leftOut }: Pick<TrainedCard, 'tool' | 'data' | 'leftOut'>,
): DescribedModel {
  const outputs =
    'quantiles [step * levels + level] of the mean capacity within each step, as ln of its ratio to the reference: ' +
    'the average rate, fading with 30 s of downloading';
  return { ...model, card: { tool, inputs: FEATURES, outputs, data, leftOut, fit } };
}

export function cardMarkdown(model: DescribedModel): string {
  const { card, name, stepEndsSeconds, levels, rankCorrelation } = model;
  const { fit, data, leftOut, tool } = card;
  const { scores, settings } = fit;
  const parts = [
    `# ${name}`,
    "A forecast of a link's capacity from what a session has seen of it: a small network, " +
      `made by ${tool.name} ${tool.version} \`train\`.`,
    `- **In:** ${model.features.length} features, free of scale and unit (below).`,
    `- **Out:** ${card.outputs}. Steps end at ${stepEndsSeconds.join(', ')} s; levels ${levels.join(', ')}.`,
    `- **Ranks** of adjacent steps are correlated by ${rankCorrelation}.`,
    `- **Trained on** ${fit.rows} moments of simulated sessions on the recordings below, ` +
      `plain and with their swings stretched; seed ${fit.seed}.`,
    `- **Settings:** ${Object.entries(settings)
      .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join('/') : value}`)
      .join(', ')}; numpy ${fit.numpy}.`,
    '',
    '## Data',
    ...dataTable(data),
    ...(leftOut.length > 0 ? ['', 'Left out of the training:', '', ...dataTable(leftOut)] : []),
    '',
    '## Scores',
    fit.scoresAreHeldOut
      ? 'On recordings that the scored models were not trained on: one model per recording group, trained with the ' +
        'same settings without that group. Pinball loss is of natural logarithms of rates, the mean over the levels; ' +
        'coverage is before the recalibration that a session adds.'
      : '**On the training data**, which flatters the model. `--folds` scores it on recordings left out.',
    '',
    ...scoresTable(scores),
    '',
    '## Limits',
    'Capacity as a client sees it: what a flow could have had, on the terminals, plans, places and days above. ' +
      'It knows nothing of other users of the dish, of weather or of where satellites are. ' +
      'A session recalibrates its spread, never its median.',
    '',
    '## Features',
    ...['| feature | meaning |', '|---|---|'],
    ...card.inputs.map((feature) => `| ${feature.name} | ${feature.meaning} |`),
  ];
  return `${parts.join('\n').replace(/^(#+ .*)$/gm, '$1\n')}\n`;
}

function scoresTable({ stepEndsSeconds, datasets }: Fit['scores']): string[] {
  return [
    `| data set | moments | pinball loss at ${shown(stepEndsSeconds)} s | 90 % interval covers | 50 % interval covers |`,
    '|---|---|---|---|---|',
    ...Object.entries(datasets).map(
      ([dataset, of]) =>
        `| ${dataset} | ${of.rows} | ${shown(of.pinball, (loss) => loss.toFixed(3))} ` +
        `| ${shown(of.coverage90, percent)} % | ${shown(of.coverage50, percent)} % |`,
    ),
  ];
}

function dataTable(sources: readonly DataSource[]): string[] {
  return [
    '| data set | recordings | hours | recording groups | licence |',
    '|---|---|---|---|---|',
    ...sources.map(
      ({ dataset, recordings, seconds, groups, licences }) =>
        `| ${dataset} | ${recordings} | ${(seconds / 3600).toFixed(2)} | ` +
        `${groups.length > 12 ? groups.length : groups.join(', ')} | ${licences.join('; ')} |`,
    ),
  ];
}

/** Shows the values of the first, the middle and the last step. The JSON has all. */
function shown(values: readonly number[], text: (value: number) => string = String): string {
  const steps = new Set([0, values.length >> 1, values.length - 1]);
  return [...steps].map((step) => text(values[step]!)).join(' / ');
}

function percent(share: number): string {
  return String(Math.round(100 * share));
}
