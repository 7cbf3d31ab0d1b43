/** Live sessions: the means of each algorithm, its differences from the baseline, and the front over the targets. */

import { placeKey } from '../../../replay/evaluation/plan.ts';
import { sameJson } from '../../../replay/evaluation/same-json.ts';
import type { Estimate, ResolvedScenario, SummaryRow } from '../../../replay/results.ts';
import { type Axis, lineChart } from '../charts.ts';
import {
  ALGORITHM,
  type Block,
  type Column,
  cellText,
  type Figure,
  type LegendEntry,
  type SeriesStyle,
  type Table,
  tableOf,
} from '../document.ts';
import { estimateCell, fixed, NOTHING, percent, scaled } from '../format.ts';
import type { Run } from '../runs.ts';
import { groupTables, intervalsText, largeScopes, type Scope, type ScopeGroup, scopeGroupsOf } from './scopes.ts';

const live = (title: string, cellOf: (live: LiveRow) => string): Column<SummaryRow> => [
  title,
  (row) => (row.live === undefined ? NOTHING : cellOf(row.live)),
];
type LiveRow = NonNullable<SummaryRow['live']>;

const COLUMNS: readonly Column<SummaryRow>[] = [
  ['n', ({ sessions }) => String(sessions)],
  live('QoE', ({ qoe }) => fixed(qoe, 2)),
  ['bitrate, Mbit/s', ({ meanBitrateBps }) => fixed(meanBitrateBps / 1e6, 2)],
  live('stalls / min', ({ stallsPerMinute }) => fixed(stallsPerMinute, 2)),
  live('stall s / min', ({ stallSecondsPerMinute }) => fixed(stallSecondsPerMinute, 2)),
  live('latency, s', ({ latencySecondsMean }) => fixed(latencySecondsMean, 2)),
  live('p95, s', ({ latencySecondsP95 }) => fixed(latencySecondsP95, 2)),
  live('not at 1x', ({ offRateShare }) => percent(offRateShare, 1)),
  live('jumps / min', ({ jumpsPerMinute }) => fixed(jumpsPerMinute, 2)),
];

export function liveSummaryBlocks(run: Run, group: ScopeGroup): Block[] {
  return [
    ...groupTables([group], (scope) => meansTable(run, scope)),
    ...groupTables([group], (scope) => differenceTable(run, scope)),
  ];
}

function meansTable(run: Run, scope: Scope): Table {
  const caption =
    `${scope.title}: each algorithm by itself, means over sessions. QoE is LoL+'s, in Mbit/s per 4 s of media; ` +
    'latency counts from the capture of a picture, "p95" is not exceeded for 95 % of the time; "not at 1x" is the ' +
    'share of the time that playback is faster or slower than normal by at least 1 %; jumps are seeks to the live edge.';
  return tableOf(caption, { names: [ALGORITHM], numbers: COLUMNS }, rowsOf(run, scope));
}

function differenceTable(run: Run, scope: Scope): Table | undefined {
  const compared = rowsOf(run, scope).flatMap(({ algorithm, vsBaseline }) =>
    vsBaseline?.live ? [{ algorithm, ...vsBaseline, live: vsBaseline.live }] : [],
  );
  const [first] = compared;
  if (first === undefined) return undefined;
  type Compared = (typeof compared)[number];
  const caption =
    `${scope.title}: difference from ${run.baseline} over pairs of sessions of the same trace and start. Better is ` +
    `above 0 for QoE and bitrate, below 0 for the others. ${intervalsText(first)}`;
  const estimate = (title: string, of: (live: Compared['live']) => Estimate): Column<Compared> => [
    title,
    (row) => estimateCell(of(row.live), { digits: 2 }),
  ];
  const numbers: Column<Compared>[] = [
    ['pairs', ({ pairs }) => String(pairs)],
    estimate('QoE', ({ qoeDiff }) => qoeDiff),
    estimate('bitrate, Mbit/s', ({ bitrateBpsDiff }) => scaled(bitrateBpsDiff, 1e-6)),
    estimate('stalls / min', ({ stallsPerMinuteDiff }) => stallsPerMinuteDiff),
    estimate('stall s / min', ({ stallSecondsPerMinuteDiff }) => stallSecondsPerMinuteDiff),
    estimate('latency, s', ({ latencySecondsDiff }) => latencySecondsDiff),
  ];
  return tableOf(caption, { names: [ALGORITHM], numbers }, compared);
}

/**
 * Stalls against latency: a figure for each group of live runs that differ only in the target, with a line per
 * algorithm over the targets. Empty without live runs.
 */
export function frontBlocks(runs: readonly Run[], styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  const groups: Run[][] = [];
  for (const run of runs) {
    if (run.scenario.live === undefined) continue;
    const group = groups.find(
      ([other]) => other!.tier === run.tier && sameJson(withoutTarget(other!.scenario), withoutTarget(run.scenario)),
    );
    if (group === undefined) groups.push([run]);
    else group.push(run);
  }
  return groups.flatMap((group) => groupBlocks(group, styles));
}

function groupBlocks(group: readonly Run[], styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  const byTarget = [...group].sort((a, b) => targetOf(a) - targetOf(b));
  const places = group.map(({ results }) => [...new Set(results.sessions.map(placeKey))].sort());
  const front: Front = {
    byTarget,
    algorithms: [...new Set(group.flatMap((run) => run.algorithms))],
    styles,
    name: `${group.map(({ scenarioLabel }) => scenarioLabel).join(', ')}, ${group[0]!.tier}`,
    note: places.every((one) => sameJson(one, places[0])) ? '' : ' The targets were not played in the same places.',
  };
  // The largest run decides which data sets have one recording.
  const [largest] = [...group].sort((a, b) => b.results.sessions.length - a.results.sessions.length);
  return scopeGroupsOf(largest!).flatMap((scopeGroup): Block[] => [
    ...largeScopes([scopeGroup]).map((scope) => frontFigures(front, scope)),
    // With one target, the summary has the numbers.
    ...(byTarget.length < 2 ? [] : groupTables([scopeGroup], (scope) => frontTable(front, scope))).map((table) => ({
      ...table,
      caption: `${front.name}, ${table.caption}`,
    })),
  ]);
}

/** Live runs that differ only in the target. */
interface Front {
  byTarget: readonly Run[];
  algorithms: readonly string[];
  styles: ReadonlyMap<string, SeriesStyle>;
  name: string;
  note: string;
}

interface FrontPoint {
  row: SummaryRow;
  live: NonNullable<SummaryRow['live']>;
  target: number;
}

function pointsOf({ byTarget }: Front, { dataset }: Scope): FrontPoint[] {
  return byTarget.flatMap((run) =>
    run.results.summary
      .filter((row) => row.dataset === dataset)
      .flatMap((row) => (row.live ? [{ row, live: row.live, target: targetOf(run) }] : [])),
  );
}

function frontFigures(front: Front, scope: Scope): Block {
  const { byTarget, algorithms, styles, name, note } = front;
  const points = pointsOf(front, scope);
  const targets = byTarget.map(targetOf);
  const legend: LegendEntry[] = algorithms.map((algorithm) => ({ name: algorithm, style: styles.get(algorithm)! }));
  const x = axisOf(
    'mean latency, s',
    points.map(({ live }) => live.latencySecondsMean),
  );
  const figure = (what: string, of: (point: FrontPoint) => number): Figure => ({
    caption:
      `${name}, ${scope.title}: ${what} against mean latency. At equal bitrate, down and to the left is better.` +
      (targets.length > 1
        ? ` Points of a line: targets of ${targets.join(', ')} s, as the table lists them.${note}`
        : ''),
    label:
      `${what} against mean latency: ` +
      points
        .map((point) => {
          const { row, live, target } = point;
          return `${row.algorithm} at ${target} s ${fixed(of(point), 2)} and ${fixed(live.latencySecondsMean, 2)} s`;
        })
        .join('; '),
    draw: () =>
      lineChart(
        algorithms.map((algorithm) => ({
          style: styles.get(algorithm)!,
          points: points
            .filter(({ row }) => row.algorithm === algorithm)
            .map((point) => ({ x: point.live.latencySecondsMean, y: of(point) })),
        })),
        { width: 520, height: 320, x, y: axisOf(what, points.map(of), 0) },
      ),
  });
  return {
    kind: 'figures',
    width: 'half',
    legend,
    figures: [
      figure('stalls per minute', ({ live }) => live.stallsPerMinute),
      figure('stall seconds per minute', ({ live }) => live.stallSecondsPerMinute),
    ],
  };
}

function frontTable(front: Front, scope: Scope): Table {
  const points = pointsOf(front, scope);
  const names: Column<FrontPoint>[] = [
    ['algorithm', ({ row }) => row.algorithm],
    ['target', ({ target }) => `${target} s`],
  ];
  const numbers = COLUMNS.map(([title, cellOf]): Column<FrontPoint> => [title, ({ row }) => cellOf(row)]);
  const ordered = front.algorithms.flatMap((algorithm) => points.filter(({ row }) => row.algorithm === algorithm));
  return tableOf(`${scope.title}: the points of the figures.${front.note}`, { names, numbers }, ordered);
}

/** A sentence on an algorithm against the baseline; undefined without pairs. */
export function liveHeadline(run: Run, scope: Scope, algorithm: string): string | undefined {
  const row = rowsOf(run, scope).find((one) => one.algorithm === algorithm);
  const live = row?.vsBaseline?.live;
  if (live === undefined) return undefined;
  const of = (estimate: typeof live.qoeDiff) => cellText(estimateCell(estimate, { digits: 2 }));
  return (
    `stalls per minute ${of(live.stallsPerMinuteDiff)}, mean latency ${of(live.latencySecondsDiff)} s, bitrate ` +
    `${of(scaled(live.bitrateBpsDiff, 1e-6))} Mbit/s, QoE ${of(live.qoeDiff)}.`
  );
}

function rowsOf({ results }: Run, { dataset }: Scope): SummaryRow[] {
  return results.summary.filter((row) => row.dataset === dataset);
}

function targetOf({ scenario }: Run): number {
  return scenario.live!.targetLatencySeconds;
}

function withoutTarget({ name: _, live, ...scenario }: ResolvedScenario): object {
  return { ...scenario, live: { ...live, targetLatencySeconds: 0 } };
}

/** With room around the values, from `least` if given. */
function axisOf(label: string, values: readonly number[], least?: number): Axis {
  const [low, high] = [least ?? Math.min(...values), Math.max(...values)];
  const room = high > low ? 0.08 * (high - low) : 0.1;
  return { label, domain: [least ?? Math.max(0, low - room), high + room] };
}
