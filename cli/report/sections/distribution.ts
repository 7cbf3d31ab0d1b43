/** Distributions of QoE over sessions, and mean against tail. */

import { quantile } from '../../../abr/quantile.ts';
import { lineChart, tailChart } from '../charts.ts';
import type { Block, LegendEntry, SeriesStyle } from '../document.ts';
import { fixed } from '../format.ts';
import { byAlgorithm, qoeOf, type Run } from '../runs.ts';
import { groupTables, largeScopes, type Scope, type ScopeGroup } from './differences.ts';

const QUANTILE_LEVELS = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1];
/** Most steps of a curve; more sessions than this are drawn as this number of quantiles. */
const MOST_STEPS = 200;

export function distributionBlocks(
  run: Run,
  groups: readonly ScopeGroup[],
  { algorithms, styles }: { algorithms: readonly string[]; styles: ReadonlyMap<string, SeriesStyle> },
): Block[] {
  const wanted = new Set(algorithms);
  const shown = run.results.sessions.filter(({ algorithm }) => wanted.has(algorithm));
  const all = Float64Array.from(shown, qoeOf).sort();
  const [least = 0, most = 1] = [all[0], all.at(-1)];
  const domain = least === most ? ([least - 1, most + 1] as const) : ([least, most] as const);
  const legend: LegendEntry[] = algorithms.map((name) => ({ name, style: styles.get(name)! }));
  const sorted = (scope: Scope) =>
    [...byAlgorithm(scope.sessions)]
      .filter(([algorithm]) => wanted.has(algorithm))
      .map(([algorithm, sessions]) => ({
        algorithm,
        ascending: Float64Array.from(sessions, qoeOf).sort(),
      }));
  const tables = groupTables(groups, (scope) => ({
    kind: 'table',
    caption: `${scope.title}: quantiles of QoE over sessions.`,
    names: ['algorithm'],
    numbers: QUANTILE_LEVELS.map(quantileName),
    rows: sorted(scope).map(({ algorithm, ascending }) => [
      algorithm,
      ...QUANTILE_LEVELS.map((level) => fixed(quantile(ascending, level), run.digits - 1)),
    ]),
  }));
  return [
    {
      kind: 'figures',
      width: 'half',
      legend,
      figures: largeScopes(groups).map((scope) => ({
        caption: `${scope.title}: share of sessions with at most this QoE. Further to the right is better.`,
        label: `Cumulative distribution of QoE, ${scope.title}; the numbers are in the table below.`,
        draw: () =>
          lineChart(
            sorted(scope).map(({ algorithm, ascending }) => ({
              name: algorithm,
              style: styles.get(algorithm)!,
              points: steps(ascending, domain),
            })),
            {
              ...{ width: 520, height: 300, curve: 'step-after' },
              x: { label: 'QoE, Mbit/s', domain },
              y: { label: 'share of sessions', domain: [0, 1], tickFormat: '.0%' },
            },
          ),
      })),
    },
    ...tables,
  ];
}

export function tailBlocks(run: Run, groups: readonly ScopeGroup[], styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  return [
    {
      kind: 'text',
      text:
        'Mean and tail conflict, because higher bitrates risk more stalls. Up and to the right is better. The first ' +
        'table of each data set has the numbers.',
    },
    {
      kind: 'figures',
      width: 'half',
      figures: largeScopes(groups).map(({ dataset, title }) => {
        const points = run.results.summary
          .filter((row) => row.dataset === dataset)
          .map((row) => ({
            name: row.algorithm,
            style: styles.get(row.algorithm)!,
            mean: row.qoeMean,
            tail: row.stallSecondsWorst5pct,
          }));
        return {
          caption: `${title}: mean QoE against the mean stall seconds of the worst 5 % of sessions.`,
          label: `Mean QoE against tail of stalls, ${title}: ${points
            .map(({ name, mean, tail }) => `${name} ${fixed(mean, 1)} and ${fixed(tail, 1)} s`)
            .join('; ')}.`,
          draw: () => tailChart(points, { meanLabel: 'QoE, mean, Mbit/s', tailLabel: 'stalls of the worst 5 %, s' }),
        };
      }),
    },
  ];
}

/** From 0 to 1 over the whole domain, with a step per session, or per quantile if there are many sessions. */
function steps(ascending: Float64Array, [low, high]: readonly [number, number]): { x: number; y: number }[] {
  const count = Math.min(ascending.length, MOST_STEPS);
  const inner = Array.from({ length: count }, (_, i) => ({
    x: count === ascending.length ? ascending[i]! : quantile(ascending, count === 1 ? 0.5 : i / (count - 1)),
    y: (i + 1) / count,
  }));
  return [{ x: low, y: 0 }, ...inner, { x: high, y: 1 }];
}

function quantileName(level: number): string {
  return level === 0 ? 'least' : level === 1 ? 'most' : level === 0.5 ? 'median' : `p${100 * level}`;
}
