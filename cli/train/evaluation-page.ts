/** The page of `leo-abr evaluate`: one HTML file without scripts, with tables and calibration plots. */

import { BASELINES, type ForecastScores, type StepScores, VARIANTS } from './forecast-scores.ts';
import { type PointScores, pointTable, type Table } from './point-scores.ts';
import { type QoeByModel, qoeTables } from './qoe-by-model.ts';
import { type Chart, chartSvg, escaped, type Line } from './svg-chart.ts';

export interface Evaluation {
  schema: 1;
  tool: { name: string; version: string; commit: string | null };
  models: string;
  traces: readonly string[];
  forecasts: ForecastScores;
  points: PointScores | null;
  /** What MPC-L comes to with each model; empty where no results were given. */
  qoe: readonly QoeByModel[];
}

const [BUILT_IN, RAW] = Object.keys(VARIANTS) as [string, string];
/** What is aimed at: coverage of the 90 % interval, pooled. */
const COVERAGE_BAND = [0.87, 0.93] as const;

export function evaluationPage({ tool, models, traces, forecasts, points, qoe }: Evaluation): string {
  const datasets = Object.keys(forecasts.scores);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Forecasts, judged on recordings left out</title>
<style>${STYLE}</style>
<h1>Forecasts, judged on recordings left out</h1>
<p>${escaped(tool.name)} ${escaped(tool.version)}${tool.commit === null ? '' : ` (${escaped(tool.commit)})`}; models of
${escaped(models)}, each for recordings that it has not learnt from; traces: ${escaped(traces.join(', '))}. Sessions of
${escaped(forecasts.scenario)}, starts ${escaped(forecasts.starts)}, played by MPC-L; one forecast a second is judged. Losses are of natural logarithms of
rates: 0.1 is about 10 %.</p>
<p class="legend"><span class="built-in">built-in</span> <span class="raw">without recalibration</span>
<span class="baseline">best simple estimator, with fitted quantiles</span></p>
${datasets.map((dataset) => section(dataset, forecasts)).join('\n')}
${points === null ? '' : tablesSection('One second ahead, as single values', pointTable(points))}
${qoe.length === 0 ? '' : tablesSection('What MPC-L makes of them', qoeTables(qoe))}
</html>
`;
}

function section(dataset: string, forecasts: ForecastScores): string {
  const scores = forecasts.scores[dataset]!;
  return `<h2>${escaped(dataset)}</h2>
<div class="charts">${[coverageChart(scores, forecasts), lossChart(scores, forecasts), ...reliabilityCharts(scores, forecasts)].map(chartSvg).join('')}</div>
${scoresTable(scores, forecasts)}`;
}

/** Horizons as the middle of each position: steps are not evenly long. */
function byStep(values: readonly (number | null)[]): Line['points'] {
  return values.map((value, step) => [step + 1, value] as const);
}

function stepAxis({ stepEndsSeconds }: ForecastScores): Pick<Chart, 'xLabel' | 'xDomain' | 'xTicks'> {
  return {
    xLabel: `step, ending at ${stepEndsSeconds.join(', ')} s`,
    xDomain: [0.5, stepEndsSeconds.length + 0.5],
    xTicks: stepEndsSeconds.map((_, step) => step + 1),
  };
}

function coverageChart(scores: StepScores, forecasts: ForecastScores): Chart {
  return {
    ...stepAxis(forecasts),
    title: 'Coverage of the 90 % and 50 % intervals',
    yLabel: 'share of outcomes inside',
    yDomain: [0.3, 1],
    yTicks: [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    band: COVERAGE_BAND,
    lines: [
      { label: `${RAW}, 90 %`, className: 'raw', points: byStep(scores.coverage90[RAW]!) },
      { label: `${RAW}, 50 %`, className: 'raw', points: byStep(scores.coverage50[RAW]!) },
      { label: `${BUILT_IN}, 90 %`, className: 'built-in', points: byStep(scores.coverage90[BUILT_IN]!) },
      { label: `${BUILT_IN}, 50 %`, className: 'built-in', points: byStep(scores.coverage50[BUILT_IN]!) },
    ],
  };
}

function lossChart(scores: StepScores, forecasts: ForecastScores): Chart {
  const best = bestBaseline(scores, 'pinball').map(({ value }) => value);
  const most = Math.max(...best, ...scores.pinball[BUILT_IN]!);
  const unit = most > 0.2 ? 0.1 : most > 0.1 ? 0.05 : 0.02;
  const top = Math.ceil(most / unit) * unit;
  return {
    ...stepAxis(forecasts),
    title: 'Pinball loss',
    yLabel: 'mean over the levels',
    yDomain: [0, top],
    yTicks: Array.from({ length: Math.round(top / unit) + 1 }, (_, i) => Math.round(i * unit * 100) / 100),
    lines: [
      { label: 'best simple estimator', className: 'baseline', points: byStep(best) },
      { label: RAW, className: 'raw', points: byStep(scores.pinball[RAW]!) },
      { label: BUILT_IN, className: 'built-in', points: byStep(scores.pinball[BUILT_IN]!) },
    ],
  };
}

/** How often outcomes lie below each quantile: the first step, one in the middle, the last. */
function reliabilityCharts(scores: StepScores, { levels, stepEndsSeconds }: ForecastScores): Chart[] {
  return [0, stepEndsSeconds.length >> 1, stepEndsSeconds.length - 1].map((step) => ({
    title: `Calibration of the step to ${stepEndsSeconds[step]} s`,
    xLabel: 'level of the quantile',
    yLabel: 'share of outcomes below',
    xDomain: [0, 1],
    yDomain: [0, 1],
    xTicks: [0, 0.25, 0.5, 0.75, 1],
    yTicks: [0, 0.25, 0.5, 0.75, 1],
    diagonal: true,
    lines: [RAW, BUILT_IN].map((name) => ({
      label: name,
      className: name === BUILT_IN ? 'built-in' : 'raw',
      points: levels.map((level, i) => [level, scores.below[name]![step]![i]!] as const),
    })),
  }));
}

export function bestBaseline(scores: StepScores, of: 'pinball' | 'crps'): { name: string; value: number }[] {
  return scores[of][BASELINES[0]]!.map((_, step) => {
    const all = BASELINES.map((name) => ({ name, value: scores[of][name]![step]! }));
    return all.reduce((best, one) => (one.value < best.value ? one : best));
  });
}

function scoresTable(scores: StepScores, { stepEndsSeconds }: ForecastScores): string {
  const rows: [string, string[]][] = [];
  for (const loss of ['pinball', 'crps'] as const) {
    const title = loss === 'pinball' ? 'Pinball loss' : 'CRPS';
    const best = bestBaseline(scores, loss);
    rows.push([`${title}, built-in`, scores[loss][BUILT_IN]!.map(decimals)]);
    rows.push([`${title}, without recalibration`, scores[loss][RAW]!.map(decimals)]);
    for (const name of BASELINES) rows.push([`${title}, ${name}`, scores[loss][name]!.map(decimals)]);
    rows.push([
      `${title}, built-in against the best simple one`,
      best.map(({ value }, step) => signedPercent(scores[loss][BUILT_IN]![step]! / value - 1)),
    ]);
  }
  for (const name of [BUILT_IN, RAW]) {
    rows.push([`90 % interval covers, ${name}`, scores.coverage90[name]!.map(percent)]);
    rows.push([`50 % interval covers, ${name}`, scores.coverage50[name]!.map(percent)]);
  }
  const head = stepEndsSeconds.map((end, step) => `${step === 0 ? 0 : stepEndsSeconds[step - 1]}–${end} s`);
  return `<details><summary>${scores.forecasts} forecasts, in numbers</summary><table><tr><th></th>${head
    .map((text) => `<th>${text}</th>`)
    .join('')}</tr>${rows
    .map(([name, cells]) => `<tr><th>${escaped(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</table></details>`;
}

function tablesSection(heading: string, tables: readonly Table[]): string {
  return `<h2>${escaped(heading)}</h2>${tables
    .map(
      ({ title, head, rows }) =>
        `<h3>${escaped(title)}</h3><table><tr>${head.map((text) => `<th>${escaped(text)}</th>`).join('')}</tr>${rows
          .map(
            ([name, ...cells]) =>
              `<tr><th>${escaped(name!)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
          )
          .join('')}</table>`,
    )
    .join('')}`;
}

function decimals(value: number): string {
  return value.toFixed(4);
}

export function percent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}

export function signedPercent(share: number): string {
  return `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`;
}

const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24;background:#fff}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:1rem}
svg{width:100%;height:auto}.title{font-size:12px;font-weight:600}.tick,.axis{font-size:9.5px;fill:#57606a}
.grid{stroke:#d0d7de;stroke-width:.5}.diagonal{stroke:#57606a;stroke-dasharray:4 3}.band{fill:#dafbe1}
polyline{fill:none;stroke-width:1.6}g.built-in{stroke:#0550ae;fill:#0550ae}g.raw{stroke:#bc4c00;fill:#bc4c00}
g.baseline{stroke:#57606a;fill:#57606a}circle{stroke:none}
.legend span{margin-right:1.2em;font-weight:600}span.built-in{color:#0550ae}span.raw{color:#bc4c00}span.baseline{color:#57606a}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;margin:.6rem 0}
td,th{padding:.15rem .6rem;border-bottom:1px solid #d0d7de;text-align:right}th:first-child{text-align:left;font-weight:500}
summary{cursor:pointer}
`;
