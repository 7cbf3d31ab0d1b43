/** Draws the picture that opens a report: QoE by algorithm, per data set. */

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { largeDatasets, tooFewSessions } from '../../../replay/evaluation/figures/verdicts.ts';
import { ALL_DATASETS, type SummaryRow } from '../../../replay/results.ts';
import type { Block, Figure, SeriesStyle } from '../document.ts';
import { count, fixed } from '../format.ts';
import { type Run, runTitle } from '../runs.ts';
import { seriesStyles } from '../series-style.ts';
import { verdicts } from '../verdict.ts';

type Styles = ReadonlyMap<string, SeriesStyle>;

/** One figure per data set with several recordings, or one figure of all data sets. */
export function openingBlocks(runs: readonly Run[]): Block[] {
  const styles = seriesStyles([...new Set(runs.flatMap(({ algorithms }) => algorithms))]);
  const prefix = (run: Run) => (runs.length > 1 ? `${runTitle(run)}: ` : '');
  const figures = runs.flatMap((run) =>
    largeDatasets(run.results.summary).map((dataset) => figureOf(run, dataset, { styles, prefix: prefix(run) })),
  );
  const texts = [
    'Mean QoE of the sessions; to the right is better. Perceived QoE is at most 100. A line is the 95 % interval of the difference from the ' +
      'baseline, drawn around the mean: where it crosses the dashed line, which is the baseline, these sessions do not ' +
      'show which of the two is better.',
    ...runs.flatMap((run) => {
      const verdict = tooFewSessions(run.results.summary);
      return verdict === undefined ? [] : [`${prefix(run)}${verdict}`];
    }),
  ];
  const sentences = runs.flatMap((run) => verdicts(run.results).map((sentence) => `${prefix(run)}${sentence}`));
  const verdictList: Block[] = sentences.length > 0 ? [{ kind: 'list', items: sentences }] : [];
  return [...verdictList, { kind: 'figures', figures }, ...texts.map((text) => ({ kind: 'text' as const, text }))];
}

function figureOf(
  { results, baseline }: Run,
  dataset: string,
  { styles, prefix }: { styles: Styles; prefix: string },
): Figure {
  const summary = results.summary.filter((row) => row.dataset === dataset);
  const rows = summary.map(qoeRow);
  const kind = summary.some(({ live }) => live) ? 'QoE, Mbit/s' : 'perceived QoE';
  const title = dataset === ALL_DATASETS ? 'all data sets' : dataset;
  const hasIntervals = summary.some(({ vsBaseline }) => vsBaseline?.qoeDiff.ci95 != null);
  const most = count(Math.max(...summary.map(({ sessions }) => sessions)), 'session');
  const numbers = rows.map(({ algorithm, value }) => `${algorithm} ${fixed(value, 1)}`);
  return {
    title: `${prefix}${title}`,
    caption: `${most} per algorithm${hasIntervals ? '' : '; no intervals'}.`,
    label: `Mean QoE by algorithm (${kind}), ${title}: ${numbers.join(', ')}.`,
    draw: () => qoeChart(rows, { label: `${kind} →`, baseline, styles }),
  };
}

/** `low` and `high` are the ends of the difference's interval around the mean. Both are `value` without it. */
function qoeRow({ algorithm, qoePerceivedMean, live, vsBaseline }: SummaryRow) {
  const value = live?.qoe ?? qoePerceivedMean;
  const difference = live ? vsBaseline?.live?.qoeDiff : vsBaseline?.perceivedDiff;
  const [low, high] = (difference?.ci95 ?? []).map((end) => value - difference!.value + end);
  return { algorithm, value, low: low ?? value, high: high ?? value };
}

/** This package has no DOM types, and `never` fits Plot's parameter. */
const { document } = parseHTML('<!doctype html><html><body></body></html>') as unknown as { document: never };

/** Plot puts its rules into every SVG. The page has them once (`page-style.ts`). */
const OWN_STYLE = /<style>[\s\S]*?<\/style>/;
/** Groups without a role must not have labels. `html.ts` labels the figure as one image. */
const GROUP_LABEL = / aria-(?:label|hidden)="[^"]*"/g;

type PlotOptions = NonNullable<Parameters<typeof Plot.plot>[0]>;

function svgOf(options: PlotOptions): string {
  const plot = Plot.plot({ document, className: 'plot', ...options });
  return (plot as unknown as { outerHTML: string }).outerHTML.replace(OWN_STYLE, '').replaceAll(GROUP_LABEL, '');
}

/** Ticks have a typographic minus, like the tables. */
const tick = (value: number) => String(Math.round(value * 1e6) / 1e6).replace('-', '−');

type QoeRow = ReturnType<typeof qoeRow>;

/** Draws a line per algorithm with its value and interval, and a dashed line at the baseline's value. */
function qoeChart(
  rows: readonly QoeRow[],
  { label, baseline, styles }: { label: string; baseline: string; styles: Styles },
): string {
  const names = rows.map(({ algorithm }) => algorithm);
  const reference = rows.filter(({ algorithm }) => algorithm === baseline);
  const colorOf = ({ algorithm }: QoeRow) => styles.get(algorithm)!.color;
  const symbol = ({ algorithm }: QoeRow) => styles.get(algorithm)!.symbol;
  return svgOf({
    ...{ width: 460, height: 62 + 26 * names.length, style: { fontSize: '12px' } },
    marginLeft: 16 + 6.8 * Math.max(...names.map((name) => name.length)),
    ...{ marginRight: 16, marginTop: 8, marginBottom: 40 },
    x: { label, ticks: 5, nice: true, tickFormat: tick, insetLeft: 8, insetRight: 8 },
    y: { label: null, domain: names, tickSize: 0 },
    marks: [
      Plot.gridX({ stroke: 'var(--line)', strokeOpacity: 1 }),
      Plot.ruleX(reference, { x: 'value', stroke: 'var(--text-soft)', strokeDasharray: '4 3' }),
      Plot.ruleY(rows, { y: 'algorithm', x1: 'low', x2: 'high', strokeWidth: 3, stroke: colorOf }),
      Plot.dot(rows, { y: 'algorithm', x: 'value', r: 5, fill: colorOf, symbol }),
    ],
    color: { type: 'identity' },
    symbol: { type: 'identity' },
  } as PlotOptions);
}
