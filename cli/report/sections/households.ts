/** The figures of households: means of each given algorithm, and differences from the baseline's households. */

import { householdSummary } from '../../../replay/evaluation/household-figures.ts';
import type { Block } from '../document.ts';
import { estimateCell, fixed, percent } from '../format.ts';
import type { Run } from '../runs.ts';
import { groupTables, intervalsText, type ScopeGroup } from './differences.ts';

export function householdBlocks(run: Run, groups: readonly ScopeGroup[]): Block[] {
  if (run.results.households === undefined) return [];
  const text =
    'Means over households; "p5" is the 5th percentile of QoE over all their players, stalls are per player, with the ' +
    'mean of the worst 5 %. Unfairness is sqrt(1 − Jain’s index); instability is FESTIVE’s; utilisation is the share of ' +
    'the link’s bits that arrived. The last two columns are differences from the households of ' +
    `${run.baseline} on the same places.`;
  const tables = groupTables(groups, ({ dataset, title }) => {
    const rows = householdSummary(run.results, dataset);
    const first = rows.find(({ difference }) => difference !== undefined)?.difference;
    const { digits } = run;
    return {
      kind: 'table',
      caption: `${title}.${first ? ` ${intervalsText(first)}` : ''}`,
      names: ['given'],
      numbers: [
        ...['n', 'QoE, sum', 'least', 'p5', 'stalls, s', 'worst 5 %, s', 'unfairness, QoE', 'bitrate'],
        ...['instability', 'utilisation', 'QoE, sum', 'least'],
      ],
      rows: rows.map((row) => [
        row.algorithm,
        String(row.households),
        fixed(row.qoeSum, digits),
        fixed(row.qoeLeast, digits),
        fixed(row.qoeP5, digits - 1),
        fixed(row.stallSecondsMean, 2),
        fixed(row.stallSecondsWorst5pct, 1),
        fixed(row.qoeUnfairness, 3),
        fixed(row.bitrateUnfairness, 3),
        fixed(row.instability, 3),
        percent(row.linkUtilisation, 1),
        estimateCell(row.difference?.qoeSum, { digits }),
        estimateCell(row.difference?.qoeLeast, { digits }),
      ]),
    };
  });
  return [{ kind: 'text', text }, ...tables];
}
