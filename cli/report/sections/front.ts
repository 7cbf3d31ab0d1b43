/** Live sessions: stalls against latency over the targets. */

import { groupBy } from '../../../replay/evaluation/group-by.ts';
import { placeKey } from '../../../replay/evaluation/plan.ts';
import { sameJson } from '../../../replay/evaluation/same-json.ts';
import { largeDatasets } from '../../../replay/evaluation/verdicts.ts';
import { ALL_DATASETS, type SummaryRow } from '../../../replay/results.ts';
import { type Axis, lineChart } from '../charts.ts';
import { type Block, type Figure, type SeriesStyle, tableOf } from '../document.ts';
import { rowNames, shownRows, summaryFigures } from '../figures.ts';
import { fixed } from '../format.ts';
import type { Run } from '../runs.ts';

/**
 * A figure for each group of live runs that differ only in the target, with a line per algorithm over the targets. Empty
 * without live runs.
 */
export function frontBlocks(runs: readonly Run[], styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  const live = runs.filter(({ scenario }) => scenario.live !== undefined).sort((a, b) => targetOf(a) - targetOf(b));
  const groups = groupBy(live, ({ tier, scenario: { name: _, ...scenario } }) =>
    JSON.stringify([tier, { ...scenario, live: { ...scenario.live, targetLatencySeconds: 0 } }]),
  );
  return [...groups.values()].flatMap((group) => groupBlocks(group, styles));
}

function groupBlocks(group: readonly Run[], styles: ReadonlyMap<string, SeriesStyle>): Block[] {
  const [{ scenario, tier }] = group as [Run];
  const places = group.map(({ results }) => [...new Set(results.sessions.map(placeKey))].sort());
  const name = `${group.map(({ scenarioLabel }) => scenarioLabel).join(', ')}, ${tier}`;
  const note = places.every((one) => sameJson(one, places[0]))
    ? ''
    : ' The targets were not played in the same places.';
  const points = group.flatMap((run) =>
    shownRows(run.results.summary).map((row) => ({ ...row, target: `${targetOf(run)} s` })),
  );
  const datasets = new Set(group.flatMap(({ results }) => largeDatasets(results.summary)));
  const blocks = [...datasets].map((dataset) =>
    frontFigures(
      points.filter((point) => point.dataset === dataset),
      { name: `${name}, ${dataset === ALL_DATASETS ? 'all data sets' : dataset}`, note, styles },
    ),
  );
  // With one target, the summary has the numbers.
  if (group.length < 2) return blocks;
  const ordered = [...groupBy(points, ({ dataset, algorithm }) => `${dataset} ${algorithm}`).values()].flat();
  const columns = [...rowNames(points), { title: 'target', of: ({ target }: Point) => target }];
  const caption = `${name}: the points of the figures.${note}`;
  return [...blocks, tableOf(caption, [...columns, ...summaryFigures(scenario).means], ordered)];
}

type Point = SummaryRow & { target: string };

function frontFigures(
  points: readonly Point[],
  { name, note, styles }: { name: string; note: string; styles: ReadonlyMap<string, SeriesStyle> },
): Block {
  const byAlgorithm = groupBy(points, ({ algorithm }) => algorithm);
  const targets = [...new Set(points.map(({ target }) => target))].join(', ');
  const latency = ({ live }: Point) => live!.latencySecondsMean;
  const x = axisOf('mean latency, s', points.map(latency));
  const figure = (what: string, of: (point: Point) => number): Figure => ({
    caption:
      `${name}: ${what} against mean latency. At equal bitrate, down and to the left is better. Targets: ${targets}.` +
      note,
    label: `${what} against mean latency: ${points
      .map((point) => `${point.algorithm} at ${point.target} ${fixed(of(point), 2)} and ${fixed(latency(point), 2)} s`)
      .join('; ')}.`,
    draw: () =>
      lineChart(
        Array.from(byAlgorithm, ([algorithm, own]) => ({
          style: styles.get(algorithm)!,
          points: own.map((point) => ({ x: latency(point), y: of(point) })),
        })),
        { width: 520, height: 320, x, y: axisOf(what, points.map(of), 0) },
      ),
  });
  return {
    kind: 'figures',
    width: 'half',
    legend: Array.from(byAlgorithm.keys(), (algorithm) => ({ name: algorithm, style: styles.get(algorithm)! })),
    figures: [
      figure('stalls per minute', ({ live }) => live!.stallsPerMinute),
      figure('stall seconds per minute', ({ live }) => live!.stallSecondsPerMinute),
    ],
  };
}

function targetOf({ scenario }: Run): number {
  return scenario.live!.targetLatencySeconds;
}

/** With room around the values, from `least` if given. */
function axisOf(label: string, values: readonly number[], least?: number): Axis {
  const [low, high] = [least ?? Math.min(...values), Math.max(...values)];
  const room = high > low ? 0.08 * (high - low) : 0.1;
  return { label, domain: [least ?? Math.max(0, low - room), high + room] };
}
