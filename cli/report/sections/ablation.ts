/** The value of an algorithm's parts: variants compared with their base. */

import { ablationsAmong } from '../../../replay/evaluation/ablations.ts';
import { summarise } from '../../../replay/evaluation/summary.ts';
import { ALL_DATASETS } from '../../../replay/results.ts';
import type { Block, Cell, Table } from '../document.ts';
import { estimateCell } from '../format.ts';
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

/** Empty where no algorithm is a variant of another. */
export function ablationBlocks(run: Run, groups: readonly ScopeGroup[]): Block[] {
  const ablations = ablationsAmong(run.algorithms);
  if (ablations.length === 0) return [];
  const tables = groupTables(groups, (scope) => tableOf(run, scope, ablations));
  return [
    {
      kind: 'text',
      text:
        'Each variant compared with its base in the same places. Below 0 the variant is worse: the part that ' +
        '`:no-...` leaves out is worth that much, or the part that another variant adds does harm.',
    },
    ...tables,
  ];
}

function tableOf(run: Run, scope: Scope, ablations: ReturnType<typeof ablationsAmong>): Table | undefined {
  const rows: Cell[][] = [];
  let intervals = '';
  for (const base of new Set(ablations.map(({ of }) => of))) {
    const variants = ablations.filter((ablation) => ablation.of === base).map(({ variant }) => variant);
    const sessions = scope.sessions.filter(({ algorithm }) => algorithm === base || variants.includes(algorithm));
    const differences = differencesFrom(run, sessions, { baseline: base, label: scope.dataset });
    // The tail is not a mean; the summary has its interval.
    const summary = summarise(sessions, { scenario: run.scenario, baseline: base, seed: run.results.tool.seed });
    const dataset = scope.dataset === ALL_DATASETS && run.datasets.length > 1 ? ALL_DATASETS : scope.dataset;
    for (const variant of variants) {
      const difference = differences.get(variant);
      if (difference === undefined) continue;
      const row = summary.find((one) => one.dataset === dataset && one.algorithm === variant);
      intervals ||= intervalsText(difference);
      rows.push([
        variant,
        base,
        ...componentCells(difference, run.digits),
        estimateCell(row?.vsBaseline?.worst5pctDiff, { digits: 1 }),
      ]);
    }
  }
  if (rows.length === 0) return undefined;
  return {
    kind: 'table',
    caption: `${scope.title}: variants, difference from their base. ${intervals}`,
    names: ['variant', 'of'],
    numbers: [...COMPONENT_TITLES, 'worst 5 %, s'],
    rows,
  };
}
