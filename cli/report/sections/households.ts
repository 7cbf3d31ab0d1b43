/** The figures of households: means of each given algorithm, and differences from the baseline's households. */

import { quantile } from '../../../abr/quantile.ts';
import { householdDifference } from '../../../replay/evaluation/household-figures.ts';
import { mean, tailSize } from '../../../replay/evaluation/quantiles.ts';
import { unitsByDataset } from '../../../replay/evaluation/resampling-units.ts';
import { ALL_DATASETS, type HouseholdResult } from '../../../replay/results.ts';
import type { Block } from '../document.ts';
import { estimateCell, fixed, percent } from '../format.ts';
import { qoeOf, type Run } from '../runs.ts';
import { groupTables, intervalsText, type ScopeGroup } from './differences.ts';

export function householdBlocks(run: Run, groups: readonly ScopeGroup[]): Block[] {
  const { households, tool } = run.results;
  if (households === undefined) return [];
  const ways = unitsByDataset(run.results.sessions);
  const text =
    'Means over households; "p5" is the 5th percentile of QoE over all their players, stalls are per player, with the ' +
    'mean of the worst 5 %. Unfairness is sqrt(1 − Jain’s index); instability is FESTIVE’s; utilisation is the share of ' +
    'the link’s bits that arrived. The last two columns are differences from the households of ' +
    `${run.baseline} on the same places.`;
  const tables = groupTables(groups, ({ dataset, title, sessions }) => {
    const all = households.filter((one) => dataset === ALL_DATASETS || one.dataset === dataset);
    const of = (algorithm: string) => all.filter((one) => one.algorithm === algorithm);
    const given = [...new Set(all.map(({ algorithm }) => algorithm))];
    const differences = new Map(
      given
        .filter((algorithm) => algorithm !== run.baseline)
        .map((algorithm) => [
          algorithm,
          householdDifference(of(algorithm), of(run.baseline), { ways, seed: tool.seed, label: dataset }),
        ]),
    );
    const first = [...differences.values()].find((one) => one !== undefined);
    return {
      kind: 'table',
      caption: `${title}.${first ? ` ${intervalsText(first)}` : ''}`,
      names: ['given'],
      numbers: [
        ...['n', 'QoE, sum', 'least', 'p5', 'stalls, s', 'worst 5 %, s', 'unfairness, QoE', 'bitrate'],
        ...['instability', 'utilisation', 'QoE, sum', 'least'],
      ],
      rows: given.map((algorithm) => {
        const rows = of(algorithm);
        const meanOf = (figure: keyof HouseholdResult) => mean(rows.map((one) => Number(one[figure])));
        const players = sessions.filter(({ household }) => household?.algorithm === algorithm);
        const stalls = Float64Array.from(players, ({ stallSeconds }) => stallSeconds).sort();
        const difference = differences.get(algorithm);
        const { digits } = run;
        return [
          algorithm,
          String(rows.length),
          fixed(meanOf('qoeSum'), digits),
          fixed(meanOf('qoeLeast'), digits),
          fixed(quantile(Float64Array.from(players, qoeOf).sort(), 0.05), digits - 1),
          fixed(mean(stalls), 2),
          fixed(mean(stalls.subarray(stalls.length - tailSize(stalls.length))), 1),
          fixed(meanOf('qoeUnfairness'), 3),
          fixed(meanOf('bitrateUnfairness'), 3),
          fixed(meanOf('instability'), 3),
          percent(meanOf('linkUtilisation'), 1),
          estimateCell(difference?.qoeSum, { digits }),
          estimateCell(difference?.qoeLeast, { digits }),
        ];
      }),
    };
  });
  return [{ kind: 'text', text }, ...tables];
}
