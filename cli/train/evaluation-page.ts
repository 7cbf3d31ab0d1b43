/** The results of `leo-abr evaluate` as a document: tables and calibration plots. */

import type { SummaryRow } from '../../replay/results.ts';
import { type Axis, type LineChartOptions, lineChart, type Series } from '../report/charts.ts';
import type { Block, Figure, ReportDocument, Section, SeriesStyle, Table } from '../report/document.ts';
import { estimateCell, fixed, percent, signed } from '../report/format.ts';
import { MODEL, type ModelScores, RAW, SCORED, SHIPPED, type StepScores } from './model-scores.ts';

export interface Evaluation extends ModelScores {
  schema: 2;
  tool: { name: string; version: string; commit: string | null };
  /** The map of models, and the recordings, as given on the command line. */
  models: string;
  traces: readonly string[];
}

/** Aim: pooled coverage of the 90 % interval. */
const COVERAGE_BAND = [0.87, 0.93] as const;
const COVERAGES = { coverage90: '90', coverage50: '50' } as const;

const STYLES: Readonly<Record<(typeof SCORED)[number], SeriesStyle>> = {
  [MODEL]: { color: 'var(--series-0)', dash: undefined, symbol: 'circle' },
  [RAW]: { color: 'var(--series-1)', dash: '7 3', symbol: 'square' },
  [SHIPPED]: { color: 'var(--series-6)', dash: '2 3', symbol: 'triangle' },
};

export function evaluationDocument(evaluation: Evaluation): ReportDocument {
  const { tool, models, traces, scenario, starts, forecasts, summary } = evaluation;
  const made = `${tool.name} ${tool.version}${tool.commit === null ? '' : ` (${tool.commit})`}`;
  const section = (id: string, title: string, blocks: Block[]): Section => ({ id, title, level: 2, blocks });
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
        section(`data-${i + 1}`, dataset, [figures(scores, evaluation), scoresTable(scores, evaluation)]),
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

function figures(scores: StepScores, { levels, stepEndsSeconds }: ModelScores): Block {
  const steps = stepAxis(stepEndsSeconds);
  const legend = Object.entries(STYLES).map(([name, style]) => ({ name, style }));
  const coverage = figure(
    'Coverage of the 90 % and 50 % intervals; the band is the aim for 90 %',
    [scores.coverage90, scores.coverage50].flatMap((of) => SCORED.map((name) => overSteps(name, of[name]))),
    { x: steps, y: { label: 'share of outcomes inside', domain: [0.3, 1] }, band: COVERAGE_BAND },
  );
  const top = 1.05 * Math.max(...SCORED.flatMap((name) => scores.pinball[name]));
  const loss = figure(
    'Pinball loss, mean over the quantile levels',
    SCORED.map((name) => overSteps(name, scores.pinball[name])),
    { x: steps, y: { label: 'pinball loss', domain: [0, top] } },
  );
  // How often outcomes lie below each quantile: the first step, one in the middle, the last.
  const calibration = [0, stepEndsSeconds.length >> 1, stepEndsSeconds.length - 1].map((step) =>
    figure(
      `Calibration of the step to ${stepEndsSeconds[step]} s`,
      SCORED.map((name) => ({
        style: STYLES[name],
        points: levels.map((x, i) => ({ x, y: scores.below[name][step]![i]! })),
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
function overSteps(name: (typeof SCORED)[number], values: readonly (number | null)[]): Line {
  return { style: STYLES[name], points: values.map((y, step) => ({ x: step + 1, y })) };
}

function stepAxis(stepEndsSeconds: readonly number[]): Axis {
  return {
    label: 'end of the step, s',
    domain: [0.5, stepEndsSeconds.length + 0.5],
    ticks: stepEndsSeconds.map((_, step) => step + 1),
    tickFormat: (step) => String(stepEndsSeconds[step - 1]),
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
      ...(['coverage90', 'coverage50'] as const).flatMap((width) =>
        SCORED.map((name) => [
          `${COVERAGES[width]} % interval covers, ${name}`,
          ...scores[width][name].map((value) => percent(value, 1)),
        ]),
      ),
    ],
  };
}
