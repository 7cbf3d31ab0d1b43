/** The results of `leo-abr evaluate` as a document: tables and calibration plots. */

import { type Axis, type LineChartOptions, lineChart, type Series } from '../report/charts.ts';
import type { Block, Figure, ReportDocument, Section, SeriesStyle, Table } from '../report/document.ts';
import { fixed, percent, signed } from '../report/format.ts';
import { BASELINES, type ForecastScores, type StepScores, VARIANTS } from './forecast-scores.ts';
import { type PointScores, pointTables } from './point-scores.ts';
import { type QoeByModel, qoeTables } from './qoe-by-model.ts';

export interface Evaluation {
  schema: 1;
  tool: { name: string; version: string; commit: string | null };
  models: string;
  traces: readonly string[];
  forecasts: ForecastScores;
  points: PointScores | null;
  /** MPC-L's QoE with each model; empty without `--qoe`. */
  qoe: readonly QoeByModel[];
}

const [BUILT_IN, RAW] = Object.keys(VARIANTS) as [string, string];
const BEST = 'best simple estimator, with fitted quantiles';
/** Aim: pooled coverage of the 90 % interval. */
const COVERAGE_BAND = [0.87, 0.93] as const;
const LOSSES = { pinball: 'Pinball loss', crps: 'CRPS' } as const;
const COVERAGES = { coverage90: '90', coverage50: '50' } as const;

const STYLES: Readonly<Record<string, SeriesStyle>> = {
  [BUILT_IN]: { color: 'var(--series-0)', dash: undefined, symbol: 'circle' },
  [RAW]: { color: 'var(--series-1)', dash: '7 3', symbol: 'square' },
  [BEST]: { color: 'var(--series-6)', dash: '2 3', symbol: 'triangle' },
};

export function evaluationDocument({ tool, models, traces, forecasts, points, qoe }: Evaluation): ReportDocument {
  const made = `${tool.name} ${tool.version}${tool.commit === null ? '' : ` (${tool.commit})`}`;
  const section = (id: string, title: string, blocks: Block[]): Section => ({ id, title, level: 2, blocks });
  return {
    title: 'Forecasts, scored on recordings left out',
    abstract: [
      `${made}; models of ${models}, each for recordings that it was not trained on; traces: ${traces.join(', ')}.`,
      `Sessions of ${forecasts.scenario}, starts ${forecasts.starts}, with MPC-L; one forecast per second is scored.`,
      'Losses are of natural logarithms of rates: 0.1 is about 10 %.',
    ],
    sections: [
      section('summary', 'Summary', summaryTables(forecasts)),
      ...Object.entries(forecasts.scores).map(([dataset, scores], i) =>
        section(`data-${i + 1}`, dataset, [figures(scores, forecasts), scoresTable(scores, forecasts)]),
      ),
      ...(points === null ? [] : [section('points', 'Point forecasts one second ahead', pointTables(points))]),
      ...(qoe.length === 0 ? [] : [section('qoe', 'QoE of MPC-L with each model', qoeTables(qoe))]),
    ],
  };
}

function figures(scores: StepScores, forecasts: ForecastScores): Block {
  const { levels, stepEndsSeconds } = forecasts;
  const steps = stepAxis(stepEndsSeconds);
  const legend = Object.entries(STYLES).map(([name, style]) => ({ name, style }));
  const best = bestBaseline(scores, 'pinball');
  const top = 1.05 * Math.max(...best, ...scores.pinball[BUILT_IN]!);
  const coverage = figure(
    'Coverage of the 90 % and 50 % intervals; the band is the aim for 90 %',
    [scores.coverage90, scores.coverage50].flatMap((of) => [RAW, BUILT_IN].map((name) => overSteps(name, of[name]!))),
    { x: steps, y: { label: 'share of outcomes inside', domain: [0.3, 1] }, band: COVERAGE_BAND },
  );
  const loss = figure(
    'Pinball loss, mean over the quantile levels',
    [overSteps(BEST, best), ...[RAW, BUILT_IN].map((name) => overSteps(name, scores.pinball[name]!))],
    { x: steps, y: { label: 'pinball loss', domain: [0, top] } },
  );
  // How often outcomes lie below each quantile: the first step, one in the middle, the last.
  const calibration = [0, stepEndsSeconds.length >> 1, stepEndsSeconds.length - 1].map((step) =>
    figure(
      `Calibration of the step to ${stepEndsSeconds[step]} s`,
      [RAW, BUILT_IN].map((name) => ({
        style: STYLES[name]!,
        points: levels.map((x, i) => ({ x, y: scores.below[name]![step]![i]! })),
      })),
      {
        x: { label: 'quantile level', domain: [0, 1] },
        y: { label: 'share of outcomes below', domain: [0, 1] },
        diagonal: true,
      },
    ),
  );
  return { kind: 'figures', width: 'third', legend, figures: [coverage, loss, ...calibration] };
}

type Line = Series<{ x: number; y: number | null }>;

function figure(caption: string, lines: Line[], axes: Omit<LineChartOptions, 'width' | 'height'>): Figure {
  const draw = () => lineChart(lines, { ...axes, width: 360, height: 270, dots: true });
  return { caption, label: caption, draw };
}

/** A point per step at equal distances, although steps differ in length. */
function overSteps(name: string, values: readonly (number | null)[]): Line {
  return { style: STYLES[name]!, points: values.map((y, step) => ({ x: step + 1, y })) };
}

function stepAxis(stepEndsSeconds: readonly number[]): Axis {
  return {
    label: 'end of the step, s',
    domain: [0.5, stepEndsSeconds.length + 0.5],
    ticks: stepEndsSeconds.map((_, step) => step + 1),
    tickFormat: (step) => String(stepEndsSeconds[step - 1]),
  };
}

/** The least loss of a simple estimator, per step. */
function bestBaseline(scores: StepScores, of: keyof typeof LOSSES): number[] {
  return scores[of][BASELINES[0]]!.map((_, step) => Math.min(...BASELINES.map((name) => scores[of][name]![step]!)));
}

/** The built-in forecaster's losses relative to the best simple ones, per step. */
function againstBest(scores: StepScores, of: keyof typeof LOSSES): string[] {
  return bestBaseline(scores, of).map(
    (least, step) => `${signed(100 * (scores[of][BUILT_IN]![step]! / least - 1), 1)} %`,
  );
}

/** The tables of docs/findings.md. */
function summaryTables({ stepEndsSeconds, scores }: ForecastScores): Table[] {
  const table = (caption: string, rows: Table['rows']): Table => {
    return { kind: 'table', caption, names: ['step to'], numbers: stepEndsSeconds.map((end) => `${end} s`), rows };
  };
  const datasets = Object.entries(scores);
  return [
    table(
      'Pinball loss of the built-in forecaster against the best simple estimator of each step',
      datasets.flatMap(([dataset, of]) => [
        [dataset, ...of.pinball[BUILT_IN]!.map((loss) => fixed(loss, 4))],
        [`${dataset}, against`, ...againstBest(of, 'pinball')],
      ]),
    ),
    ...Object.entries(COVERAGES).flatMap(([of, width]) =>
      [BUILT_IN, RAW].map((variant) =>
        table(
          `The ${width} % interval covers, ${variant}`,
          datasets.map(([dataset, one]) => [
            dataset,
            ...one[of as keyof typeof COVERAGES][variant]!.map((share) => percent(share, 1)),
          ]),
        ),
      ),
    ),
  ];
}

function scoresTable(scores: StepScores, { stepEndsSeconds }: ForecastScores): Table {
  const rows: string[][] = [];
  for (const loss of ['pinball', 'crps'] as const) {
    for (const name of [BUILT_IN, RAW, ...BASELINES]) {
      rows.push([`${LOSSES[loss]}, ${name}`, ...scores[loss][name]!.map((value) => fixed(value, 4))]);
    }
    rows.push([`${LOSSES[loss]}, built-in against the best simple one`, ...againstBest(scores, loss)]);
  }
  for (const name of [BUILT_IN, RAW]) {
    for (const share of ['coverage90', 'coverage50'] as const) {
      const cells = scores[share][name]!.map((value) => percent(value, 1));
      rows.push([`${COVERAGES[share]} % interval covers, ${name}`, ...cells]);
    }
  }
  return {
    kind: 'table',
    caption: `${scores.forecasts} forecasts, in numbers.`,
    names: ['score'],
    numbers: stepEndsSeconds.map((end, step) => `${stepEndsSeconds[step - 1] ?? 0}–${end} s`),
    rows,
  };
}
