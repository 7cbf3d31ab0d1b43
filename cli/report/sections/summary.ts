/** The means of each algorithm, and its paired difference from the baseline by component. */

import { shownGapClosed } from '../../../replay/evaluation/verdicts.ts';
import type { SummaryRow } from '../../../replay/results.ts';
import type { Block, Table } from '../document.ts';
import { estimateCell, fixed, percent, scaled } from '../format.ts';
import type { Run } from '../runs.ts';
import {
  COMPONENT_TITLES,
  componentCells,
  differencesFrom,
  groupTables,
  intervalsText,
  type Scope,
  type ScopeGroup,
} from './differences.ts';

export function summaryBlocks(run: Run, group: ScopeGroup): Block[] {
  return [
    ...groupTables([group], (scope) => meansTable(rowsOf(run, scope), run, scope)),
    ...groupTables([group], (scope) => differenceTable(rowsOf(run, scope), run, scope)),
  ];
}

function rowsOf({ results }: Run, scope: Scope): SummaryRow[] {
  return results.summary.filter(({ dataset }) => dataset === scope.dataset);
}

function meansTable(rows: readonly SummaryRow[], run: Run, { title }: Scope): Table {
  const { digits } = run;
  const hasBound = rows.some(({ qoeUpperBoundMean }) => qoeUpperBoundMean !== undefined);
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
    ...(hasBound ? ['at most'] : []),
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
      ...(hasBound ? [fixed(row.qoeUpperBoundMean, digits)] : []),
    ]),
  };
}

function differenceTable(rows: readonly SummaryRow[], run: Run, scope: Scope): Table | undefined {
  const differences = differencesFrom(run, scope);
  const [first] = differences.values();
  if (first === undefined) return undefined;
  return {
    kind: 'table',
    caption:
      `${scope.title}: difference from ${run.baseline} over pairs of sessions of the same trace and start. ` +
      'QoE = bitrate + stalls + startup + switches, in Mbit/s of undisturbed media, above 0 where the algorithm is ' +
      `better; "worst 5 %" in seconds of stalls, "over 10 s" in percentage points of the sessions, below 0 where it ` +
      `is better. ${intervalsText(first)}`,
    names: ['algorithm'],
    numbers: [...COMPONENT_TITLES, 'worst 5 %, s', 'over 10 s, points', 'QoE ratio', 'gap closed'],
    rows: [...differences].map(([algorithm, of]) => {
      const row = rows.find((one) => one.algorithm === algorithm);
      const versus = row?.vsBaseline;
      return [
        algorithm,
        ...componentCells(of, run.digits),
        estimateCell(versus?.worst5pctDiff, { digits: 1 }),
        estimateCell(versus?.severeShareDiff && scaled(versus.severeShareDiff, 100), { digits: 1 }),
        estimateCell(versus?.qoeMeanRatio, { digits: 2, plus: false, against: 1 }),
        estimateCell(row && shownGapClosed(row, rows), { digits: 2, plus: false }),
      ];
    }),
  };
}
