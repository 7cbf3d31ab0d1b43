/** The comparison within thirds of the places, ranked by the baseline's QoE there. */

import { DIFFICULTIES, difficultyByPlace, FEWEST_PLACES } from '../../../replay/evaluation/difficulty.ts';
import { placeKey } from '../../../replay/evaluation/plan.ts';
import { mean } from '../../../replay/evaluation/quantiles.ts';
import { ALL_DATASETS } from '../../../replay/results.ts';
import type { Block, Cell, Table } from '../document.ts';
import { estimateCell, fixed, turned } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';
import { differencesFrom, groupTables, type Scope, type ScopeGroup } from './differences.ts';

export function difficultyBlocks(run: Run, groups: readonly ScopeGroup[]): Block[] {
  const { baseline, results } = run;
  const difficulties = difficultyByPlace(results.sessions, baseline);
  const tables = groupTables(groups, (scope) =>
    scope.dataset === ALL_DATASETS && run.datasets.length > 1 ? undefined : tableOf(run, scope, difficulties),
  );
  if (tables.length === 0) {
    return [
      {
        kind: 'text',
        text: `No data set has the ${FEWEST_PLACES} places with a session of \`${baseline}\` that thirds need.`,
      },
    ];
  }
  return [
    {
      kind: 'text',
      text:
        `Thirds of each data set's places by the QoE of \`${baseline}\` there. The ranking includes its luck: a ` +
        'place where it was unlucky counts as hard. So every other algorithm looks somewhat better than it is in the ' +
        'hard third, and worse in the easy one (regression to the mean).',
    },
    ...tables,
  ];
}

function tableOf(run: Run, scope: Scope, difficulties: ReturnType<typeof difficultyByPlace>): Table | undefined {
  const { digits } = run;
  const rows: Cell[][] = [];
  for (const difficulty of DIFFICULTIES) {
    const sessions = scope.sessions.filter((session) => difficulties.get(placeKey(session)) === difficulty);
    if (sessions.length === 0) continue;
    const groups = byAlgorithm(sessions);
    const differences = differencesFrom(run, sessions, {
      baseline: run.baseline,
      label: `${scope.dataset} ${difficulty}`,
    });
    for (const algorithm of run.algorithms) {
      const own = groups.get(algorithm) ?? [];
      if (own.length === 0) continue;
      const difference = differences.get(algorithm);
      rows.push([
        difficulty,
        algorithm,
        String(own.length),
        fixed(mean(own.map(({ qoe }) => qoe.linear)), digits),
        fixed(mean(own.map(({ stallSeconds }) => stallSeconds)), 2),
        estimateCell(difference?.qoe, { digits }),
        estimateCell(difference && turned(difference.stalls), { digits }),
      ]);
    }
  }
  if (rows.length === 0) return undefined;
  return {
    kind: 'table',
    caption:
      `${scope.title}: by difficulty; the last two columns are differences from ${run.baseline} with 95 % ` +
      'intervals, above 0 where the algorithm is better.',
    names: ['third', 'algorithm'],
    numbers: ['n', 'QoE, mean', 'stalls, s', 'QoE', 'from stalls'],
    rows,
  };
}
