/** The summary as a text table for a terminal. */

import { textTable } from '../formats/text-table.ts';
import { ALL_DATASETS, type Estimate, type SummaryRow } from '../results.ts';
import { groupBy } from './group-by.ts';
import { oneRecordingDatasets, shownGapClosed, tooFewSessions } from './verdicts.ts';

/** Columns of names are aligned to the left, all others to the right. */
interface Column {
  title: string;
  cell(row: SummaryRow, summary: readonly SummaryRow[]): string;
  isName?: boolean;
}

const DATASET: Column = { title: 'data set', cell: (row) => row.dataset, isName: true };
const ALGORITHM: Column = { title: 'algorithm', cell: (row) => row.algorithm, isName: true };

const ON_DEMAND: readonly Column[] = [
  ALGORITHM,
  { title: 'n', cell: (row) => String(row.sessions) },
  { title: 'QoE', cell: (row) => fixed(row.qoeMean, 2) },
  { title: 'p5', cell: (row) => fixed(row.qoeP5, 1) },
  { title: 'p50', cell: (row) => fixed(row.qoeMedian, 1) },
  { title: 'p95', cell: (row) => fixed(row.qoeP95, 1) },
  { title: 'Mbit/s', cell: (row) => fixed(row.meanBitrateBps / 1e6, 2) },
  { title: 'stall s', cell: (row) => fixed(row.stallSecondsMean, 2) },
  { title: 'worst 5%', cell: (row) => fixed(row.stallSecondsWorst5pct, 1) },
  { title: 'severe', cell: (row) => `${fixed(100 * row.severeShare, 1)}%` },
  { title: 'wasted', cell: (row) => `${fixed(100 * row.wastedShare, 1)}%` },
  { title: 'dQoE [95%]', cell: (row) => estimate(row.vsBaseline?.qoeDiff, 2) },
  { title: 'ratio', cell: (row) => fixed(row.vsBaseline?.qoeMeanRatio?.value, 2) },
  { title: 'dWorst 5% [95%]', cell: (row) => estimate(row.vsBaseline?.worst5pctDiff, 1) },
  { title: 'dSevere % [95%]', cell: (row) => estimate(row.vsBaseline?.severeShareDiff, 1, 100) },
  { title: 'gap closed', cell: (row, summary) => percent(shownGapClosed(row, summary)?.value) },
];

const LIVE: readonly Column[] = [
  ALGORITHM,
  { title: 'n', cell: (row) => String(row.sessions) },
  { title: 'QoE', cell: (row) => fixed(row.live?.qoe, 2) },
  { title: 'Mbit/s', cell: (row) => fixed(row.meanBitrateBps / 1e6, 2) },
  { title: 'stalls/min', cell: (row) => fixed(row.live?.stallsPerMinute, 2) },
  { title: 'stall s/min', cell: (row) => fixed(row.live?.stallSecondsPerMinute, 2) },
  { title: 'latency s', cell: (row) => fixed(row.live?.latencySecondsMean, 2) },
  { title: 'p95 s', cell: (row) => fixed(row.live?.latencySecondsP95, 2) },
  { title: 'not at 1x', cell: (row) => percent(row.live?.offRateShare) },
  { title: 'startup s', cell: (row) => fixed(row.startupSecondsMean, 2) },
  { title: 'wasted', cell: (row) => `${fixed(100 * row.wastedShare, 1)}%` },
  { title: 'dQoE [95%]', cell: (row) => estimate(row.vsBaseline?.live?.qoeDiff, 2) },
  { title: 'dStall s/min [95%]', cell: (row) => estimate(row.vsBaseline?.live?.stallSecondsPerMinuteDiff, 2) },
  { title: 'dLatency s [95%]', cell: (row) => estimate(row.vsBaseline?.live?.latencySecondsDiff, 2) },
];

/**
 * A block per data set: a headline with its name and units of resampling, and a line per algorithm; data sets with one
 * recording share a block. Differences are to the baseline; a dash means not applicable. A last line names the data sets
 * with too few sessions. Ends with a line break; empty for an empty summary.
 */
export function summaryTable(summary: readonly SummaryRow[]): string {
  const columns = summary.some(({ live }) => live !== undefined) ? LIVE : ON_DEMAND;
  const small = oneRecordingDatasets(summary);
  const blocks = groupBy(summary, ({ dataset }) => (small.has(dataset) ? undefined : dataset));
  const texts = [...blocks].map(([dataset, rows]) =>
    block(dataset, rows, { columns: dataset === undefined ? [DATASET, ...columns] : columns, summary }),
  );
  const verdict = tooFewSessions(summary);
  return [...texts, ...(verdict === undefined ? [] : [`${verdict}\n`])].join('\n');
}

function block(
  dataset: string | undefined,
  rows: readonly SummaryRow[],
  { columns, summary }: { columns: readonly Column[]; summary: readonly SummaryRow[] },
): string {
  // All blocks have the widths of the whole summary.
  const cells = [
    columns.map(({ title }) => title),
    ...summary.map((row) => columns.map((one) => one.cell(row, summary))),
  ];
  const [titles, ...lines] = textTable(cells, columns.filter(({ isName }) => isName).length);
  const shown = [titles, ...rows.map((row) => lines[summary.indexOf(row)])];
  return [headline(dataset, rows), ...shown.map((line) => `  ${line}`)].map((line) => `${line}\n`).join('');
}

/** `dataset` undefined: the block of the data sets with one recording. */
function headline(dataset: string | undefined, rows: readonly SummaryRow[]): string {
  const compared = rows.find((row) => row.vsBaseline !== null)?.vsBaseline;
  const early = rows.flatMap((row) => {
    const name = dataset === undefined ? `${row.dataset} ${row.algorithm}` : row.algorithm;
    const { cutoffs, faults, pastTrace = 0 } = row;
    return [
      ...(cutoffs > 0 ? [`${name}: ${cutoffs} cut off`] : []),
      ...(faults > 0 ? [`${name}: ${faults} ended by a fault`] : []),
      ...(pastTrace > 0 ? [`${name}: ${pastTrace} ran past the trace's end, into its beginning`] : []),
    ];
  });
  const units = compared?.resampledBy === 'mixed' ? 'groups or recordings' : compared?.resampledBy;
  return [
    dataset === undefined
      ? 'data sets with one recording each'
      : dataset === ALL_DATASETS
        ? 'all data sets together'
        : dataset,
    ...(compared
      ? [
          `against ${compared.baseline}`,
          compared.units < 2 ? 'no intervals: one recording' : `intervals resample ${compared.units} ${units}`,
        ]
      : []),
    ...early,
  ].join(' | ');
}

function fixed(value: number | undefined, digits: number): string {
  return value === undefined || !Number.isFinite(value) ? '-' : value.toFixed(digits);
}

function percent(value: number | undefined): string {
  return value === undefined ? '-' : `${fixed(100 * value, 0)}%`;
}

/** `scale` multiplies the numbers. */
function estimate(of: Estimate | undefined, digits: number, scale = 1): string {
  if (of === undefined) return '-';
  const signed = (value: number) => (value >= 0 ? '+' : '') + (scale * value).toFixed(digits);
  return of.ci95 === null ? signed(of.value) : `${signed(of.value)} [${signed(of.ci95[0])}, ${signed(of.ci95[1])}]`;
}
