/** The picture that opens a report: QoE by algorithm, per data set. */

import { largeDatasets, tooFewSessions } from '../../../replay/evaluation/figures/verdicts.ts';
import { ALL_DATASETS, type SummaryRow } from '../../../replay/results.ts';
import { qoeChart } from '../charts.ts';
import type { Block, Figure, SeriesStyle } from '../document.ts';
import { count, fixed } from '../format.ts';
import type { Run } from '../runs.ts';

/** A figure per data set with more than one recording, or one of all together. `runTitle` names a run among several. */
export function openingBlocks(
  runs: readonly Run[],
  { styles, runTitle }: { styles: ReadonlyMap<string, SeriesStyle>; runTitle(run: Run): string },
): Block[] {
  const prefix = (run: Run) => (runs.length > 1 ? `${runTitle(run)}: ` : '');
  const figures = runs.flatMap((run) =>
    largeDatasets(run.results.summary).map((dataset) => figureOf(run, dataset, { styles, prefix: prefix(run) })),
  );
  const texts = [
    'Mean QoE of the sessions; to the right is better. A line is the 95 % interval of the difference from the ' +
      'baseline, drawn around the mean: where it crosses the dashed line, which is the baseline, these sessions do not ' +
      'show which of the two is better.',
    ...runs.flatMap((run) => {
      const verdict = tooFewSessions(run.results.summary);
      return verdict === undefined ? [] : [`${prefix(run)}${verdict}`];
    }),
  ];
  return [{ kind: 'figures', figures }, ...texts.map((text) => ({ kind: 'text' as const, text }))];
}

function figureOf(
  { results, baseline }: Run,
  dataset: string,
  { styles, prefix }: { styles: ReadonlyMap<string, SeriesStyle>; prefix: string },
): Figure {
  const summary = results.summary.filter((row) => row.dataset === dataset);
  const rows = summary.map(qoeRow);
  const title = dataset === ALL_DATASETS ? 'all data sets' : dataset;
  const hasIntervals = summary.some(({ vsBaseline }) => vsBaseline?.qoeDiff.ci95 != null);
  const most = count(Math.max(...summary.map(({ sessions }) => sessions)), 'session');
  const numbers = rows.map(({ algorithm, value }) => `${algorithm} ${fixed(value, 1)}`);
  return {
    title: `${prefix}${title}`,
    caption: `${most} per algorithm${hasIntervals ? '' : '; no intervals'}.`,
    label: `Mean QoE by algorithm in Mbit/s, ${title}: ${numbers.join(', ')}.`,
    draw: () => qoeChart(rows, { baseline, styles }),
  };
}

/** The interval of the difference is drawn around the mean. */
function qoeRow({ algorithm, qoeMean, live, vsBaseline }: SummaryRow) {
  const value = live?.qoe ?? qoeMean;
  const difference = live ? vsBaseline?.live?.qoeDiff : vsBaseline?.qoeDiff;
  const [low, high] = (difference?.ci95 ?? []).map((end) => value - difference!.value + end);
  return { algorithm, value, low: low ?? value, high: high ?? value };
}
