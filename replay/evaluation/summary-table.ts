/** The summary as a text table for a terminal. */

import { textTable } from '../formats/text-table.ts';
import { ALL_DATASETS, type Estimate, type SummaryRow } from '../results.ts';

/** The first column is aligned to the left, all others to the right. */
type Columns = readonly { title: string; cell(row: SummaryRow): string }[];

const ON_DEMAND: Columns = [
  { title: 'algorithm', cell: (row) => row.algorithm },
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
  { title: 'gap closed', cell: (row) => percent(row.vsBaseline?.oracleGapClosed?.value) },
];

const LIVE: Columns = [
  { title: 'algorithm', cell: (row) => row.algorithm },
  { title: 'n', cell: (row) => String(row.sessions) },
  { title: 'QoE', cell: (row) => fixed(row.live?.qoe, 2) },
  { title: 'Mbit/s', cell: (row) => fixed(row.meanBitrateBps / 1e6, 2) },
  { title: 'stalls/min', cell: (row) => fixed(row.live?.stallsPerMinute, 2) },
  { title: 'stall s/min', cell: (row) => fixed(row.live?.stallSecondsPerMinute, 2) },
  { title: 'latency s', cell: (row) => fixed(row.live?.latencySecondsMean, 2) },
  { title: 'p95 s', cell: (row) => fixed(row.live?.latencySecondsP95, 2) },
  { title: 'off rate', cell: (row) => percent(row.live?.offRateShare) },
  { title: 'startup s', cell: (row) => fixed(row.startupSecondsMean, 2) },
  { title: 'wasted', cell: (row) => `${fixed(100 * row.wastedShare, 1)}%` },
  { title: 'dQoE [95%]', cell: (row) => estimate(row.vsBaseline?.live?.qoeDiff, 2) },
  { title: 'dStall s/min [95%]', cell: (row) => estimate(row.vsBaseline?.live?.stallSecondsPerMinuteDiff, 2) },
  { title: 'dLatency s [95%]', cell: (row) => estimate(row.vsBaseline?.live?.latencySecondsDiff, 2) },
];

/**
 * A block per data set: a headline with its name and units of resampling, and a line per algorithm. Differences are to
 * the baseline; a dash means not applicable. Ends with a line break; empty for an empty summary.
 */
export function summaryTable(summary: readonly SummaryRow[]): string {
  const columns = summary.some(({ live }) => live !== undefined) ? LIVE : ON_DEMAND;
  const titles = columns.map((column) => column.title);
  const [head, ...rows] = textTable([titles, ...summary.map((row) => columns.map((column) => column.cell(row)))], 1);
  const lines: string[] = [];
  for (const [index, row] of summary.entries()) {
    if (row.dataset !== summary[index - 1]?.dataset) {
      const members = summary.filter((other) => other.dataset === row.dataset);
      if (lines.length > 0) lines.push('');
      lines.push(headline(row.dataset, members), `  ${head}`);
    }
    lines.push(`  ${rows[index]}`);
  }
  return lines.map((text) => `${text}\n`).join('');
}

function headline(dataset: string, rows: readonly SummaryRow[]): string {
  const compared = rows.find((row) => row.vsBaseline !== null)?.vsBaseline;
  const early = rows.flatMap(({ algorithm, cutoffs, faults }) => [
    ...(cutoffs > 0 ? [`${algorithm}: ${cutoffs} cut off`] : []),
    ...(faults > 0 ? [`${algorithm}: ${faults} ended by a fault`] : []),
  ]);
  const upperBound = rows.find((row) => row.qoeUpperBoundMean !== undefined)?.qoeUpperBoundMean;
  const units = compared?.resampledBy === 'mixed' ? 'groups or recordings' : compared?.resampledBy;
  return [
    dataset === ALL_DATASETS ? 'all data sets (an extra)' : dataset,
    ...(compared
      ? [
          `against ${compared.baseline}`,
          compared.units < 2 ? 'no intervals: one recording' : `intervals resample ${compared.units} ${units}`,
        ]
      : []),
    ...(upperBound !== undefined ? [`no session plan beats ${fixed(upperBound, 2)}`] : []),
    ...early,
  ].join(' | ');
}

function fixed(value: number | undefined, digits: number): string {
  return value === undefined || !Number.isFinite(value) ? '-' : value.toFixed(digits);
}

function percent(value: number | undefined): string {
  return value === undefined ? '-' : `${fixed(100 * value, 0)}%`;
}

function estimate(of: Estimate | undefined, digits: number): string {
  if (of === undefined) return '-';
  const signed = (value: number) => (value >= 0 ? '+' : '') + value.toFixed(digits);
  return of.ci95 === null ? signed(of.value) : `${signed(of.value)} [${signed(of.ci95[0])}, ${signed(of.ci95[1])}]`;
}
