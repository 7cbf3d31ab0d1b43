/** The means of each algorithm, and its paired difference from the baseline by component. */

import { shownGapClosed } from '../../../replay/evaluation/verdicts.ts';
import type { SummaryRow } from '../../../replay/results.ts';
import { type ForestRow, forestChart } from '../charts.ts';
import type { Block, Figure, SeriesStyle, Table } from '../document.ts';
import { estimateCell, fixed, percent, turned } from '../format.ts';
import type { Run } from '../runs.ts';
import {
  COMPONENT_TITLES,
  componentCells,
  differencesFrom,
  groupTables,
  intervalsText,
  largeScopes,
  type Scope,
  type ScopeGroup,
} from './differences.ts';

const COMPONENTS = ['QoE', 'bitrate', 'stalls', 'startup', 'switches'] as const;

export function summaryBlocks(run: Run, group: ScopeGroup, styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  const { baseline } = run;
  const differencesOf = new Map(
    group.scopes.map((scope) => [scope, differencesFrom(run, scope.sessions, { baseline, label: scope.dataset })]),
  );
  return [
    ...largeScopes([group]).flatMap((scope) => forestBlocks(run, scope, differencesOf.get(scope)!, styles)),
    ...groupTables([group], (scope) => meansTable(rowsOf(run, scope), run, scope)),
    ...groupTables([group], (scope) => differenceTable(rowsOf(run, scope), differencesOf.get(scope)!, run, scope)),
  ];
}

function rowsOf({ results }: Run, scope: Scope): SummaryRow[] {
  return results.summary.filter(({ dataset }) => dataset === scope.dataset);
}

function forestBlocks(
  { baseline }: Run,
  { title }: Scope,
  differences: ReturnType<typeof differencesFrom>,
  styles: ReadonlyMap<string, SeriesStyle>,
): Block[] {
  const [first] = differences.values();
  if (first === undefined) return [];
  const forest: ForestRow[] = [];
  for (const [algorithm, of] of differences) {
    const estimates = [of.qoe, of.quality, turned(of.stalls), turned(of.startup), turned(of.switches)];
    for (const [i, { value, ci95 }] of estimates.entries()) {
      const [low, high] = ci95 ?? [value, value];
      forest.push({ algorithm, component: COMPONENTS[i]!, value, low, high });
    }
  }
  const figure: Figure = {
    caption: `${title}: difference from ${baseline} and its components. ${intervalsText(first, 'lines')}`,
    label: `Paired differences from ${baseline}, ${title}; the numbers are in the table below.`,
    draw: () => forestChart(forest, { components: COMPONENTS, styles, unit: 'Mbit/s of QoE' }),
  };
  return [{ kind: 'figures', figures: [figure], width: 'full' }];
}

function meansTable(rows: readonly SummaryRow[], run: Run, { title }: Scope): Table {
  const { digits } = run;
  const numbers = [
    'n',
    'QoE, mean',
    'p5',
    'median',
    'p95',
    'bitrate, Mbit/s',
    'stalls, s',
    'worst 5 %, s',
    'over 10 s',
    'startup, s',
    'wasted',
  ];
  return {
    kind: 'table',
    caption:
      `${title}: each algorithm by itself. Stalls exclude startup; "worst 5 %" is the mean of the worst sessions, ` +
      '"over 10 s" the share of sessions with stalls of more than 10 s.',
    names: ['algorithm'],
    numbers,
    rows: rows.map((row) => [
      row.algorithm,
      String(row.sessions),
      fixed(row.qoeMean, digits),
      fixed(row.qoeP5, digits - 1),
      fixed(row.qoeMedian, digits - 1),
      fixed(row.qoeP95, digits - 1),
      fixed(row.meanBitrateBps / 1e6, digits),
      fixed(row.stallSecondsMean, 2),
      fixed(row.stallSecondsWorst5pct, 1),
      percent(row.severeShare, 1),
      fixed(row.startupSecondsMean, 2),
      percent(row.wastedShare, 1),
    ]),
  };
}

function differenceTable(
  rows: readonly SummaryRow[],
  differences: ReturnType<typeof differencesFrom>,
  run: Run,
  { title }: Scope,
): Table | undefined {
  const [first] = differences.values();
  if (first === undefined) return undefined;
  return {
    kind: 'table',
    caption:
      `${title}: difference from ${run.baseline} over pairs of sessions of the same trace and start. ` +
      'QoE = bitrate + stalls + startup + switches, in Mbit/s of undisturbed media, above 0 where the algorithm is ' +
      `better; "worst 5 %" in seconds of stalls, below 0 where it is better. ${intervalsText(first)}`,
    names: ['algorithm'],
    numbers: [...COMPONENT_TITLES, 'worst 5 %, s', 'QoE ratio', 'gap closed'],
    rows: [...differences].map(([algorithm, of]) => {
      const row = rows.find((one) => one.algorithm === algorithm);
      const versus = row?.vsBaseline;
      return [
        algorithm,
        ...componentCells(of, run.digits),
        estimateCell(versus?.worst5pctDiff, { digits: 1 }),
        estimateCell(versus?.qoeMeanRatio, { digits: 2, plus: false, against: 1 }),
        estimateCell(row && shownGapClosed(row, rows), { digits: 2, plus: false }),
      ];
    }),
  };
}
