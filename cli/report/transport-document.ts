/** The report of `leo-abr transport sweep`. Imports the plotting library. */

import { quantile } from '../../abr/quantile.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import type { Estimate } from '../../replay/results.ts';
import {
  chosenByLeavingOut,
  DEFAULT_SETTING,
  gridSetting,
  LOSS_THRESHOLDS,
  MOST_RTT_RATIO,
  PROBE_RTT_MS,
  type Ratios,
  ratiosToDefault,
  type SweepFile,
  settingMedians,
} from '../../transport/sweep-ratios.ts';
import { heatChart } from './charts.ts';
import type { Block, Figure, ReportDocument, Table } from './document.ts';

export function transportDocument({ rows, scenario, impairment, seconds, tool }: SweepFile): ReportDocument {
  const ratios = ratiosToDefault(rows, tool);
  const { choices, ratios: heldOut } = chosenByLeavingOut(rows, tool);
  const counts = [...groupBy(choices, ({ setting }) => setting)].map(
    ([setting, { length }]) => `\`${setting}\` ${length}`,
  );
  const bring = heldOut === undefined ? '' : ` There it has ${figures(heldOut)}.`;
  const [head] = [
    `${new Set(rows.map(({ trace }) => trace)).size} links at scenario ${scenario}, impairment ${impairment}, ${seconds} s per download.`,
  ];
  return {
    title: 'Congestion controls over HTTP/3',
    abstract: [
      `${head} Ratios are geometric means against \`${DEFAULT_SETTING}\` on the same link, with 95 % intervals over recording groups.`,
    ],
    sections: [
      { id: 'settings', title: 'All settings', level: 2, blocks: [settingsTable(rows, ratios)] },
      { id: 'grid', title: "BBRv2's two parameters", level: 2, blocks: [heatMaps(ratios)] },
      {
        id: 'choice',
        title: 'The best setting, for recordings that were left out',
        level: 2,
        blocks: [
          {
            kind: 'text',
            text:
              `For each recording group, the setting with the most throughput at less than ${MOST_RTT_RATIO} of the default's p95 RTT on all ` +
              `other groups: ${counts.join(', ')}.${bring}`,
          },
        ],
      },
      { id: 'fairness', title: 'Side by side', level: 2, blocks: [fairnessTable(rows)] },
    ],
  };
}

const figures = ({ throughput, rttP95, places }: Ratios) =>
  `${ratio(throughput)} of the throughput and ${ratio(rttP95)} of the p95 RTT of the default, on ${places} links`;

/** A dash for what was not measured. */
function number(value: number, digits: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(digits);
}

function ratio({ value, ci95 }: Estimate): string {
  if (Number.isNaN(value)) return '–';
  return `${value.toFixed(2)}${ci95 ? ` (${ci95.map((end) => end.toFixed(2)).join(', ')})` : ''}`;
}

function settingsTable(rows: SweepFile['rows'], ratios: ReadonlyMap<string, Ratios>): Table {
  return {
    kind: 'table',
    caption: 'Downloads with one flow. Throughput, RTT and loss are medians over the links.',
    names: ['setting'],
    numbers: ['throughput, Mbit/s', 'p95 RTT, ms', 'lost, %', 'throughput / default', 'p95 RTT / default'],
    rows: [...ratios].map(([flows, { throughput, rttP95 }]) => {
      const { throughputBps, rttSecondsP95, lostShare } = settingMedians(rows, flows);
      return [
        flows,
        (throughputBps / 1e6).toFixed(2),
        number(1000 * rttSecondsP95, 0),
        (100 * lostShare).toFixed(2),
        ratio(throughput),
        ratio(rttP95),
      ];
    }),
  };
}

function heatMaps(ratios: ReadonlyMap<string, Ratios>): Block {
  const figure = (key: 'throughput' | 'rttP95', caption: string): Figure => {
    const cells = PROBE_RTT_MS.flatMap((ms) =>
      LOSS_THRESHOLDS.flatMap((loss) => {
        const found = ratios.get(gridSetting(ms, loss));
        return found ? [{ x: `${100 * loss} %`, y: `${ms / 1000} s`, value: found[key].value }] : [];
      }),
    );
    const label = cells.map(({ x, y, value }) => `${y} and ${x}: ${value.toFixed(2)}`).join('; ');
    const axes = { xLabel: 'loss threshold (beta)', yLabel: 'interval of ProbeRTT (alpha)' };
    return { caption, label: `${caption}: ${label}`, draw: () => heatChart(cells, axes) };
  };
  const both = [figure('throughput', 'Throughput / default'), figure('rttP95', 'p95 RTT / default')];
  return { kind: 'figures', width: 'half', figures: both };
}

/** The ratio of the first group's sum to the second's, per flow, as a distribution over links. */
function fairnessTable(rows: SweepFile['rows']): Table {
  const pairs = rows.filter(({ results }) => results.length === 2 && results[1]!.throughputBps > 0);
  return {
    kind: 'table',
    caption: "Groups of flows on one link: throughput of the first group / the second's, quantiles over links.",
    names: ['flows'],
    numbers: ['links', '10 %', '25 %', '50 %', '75 %', '90 %'],
    rows: [...groupBy(pairs, ({ flows }) => flows)].map(([flows, group]) => {
      const sorted = group.map(({ results: [a, b] }) => a!.throughputBps / b!.throughputBps).sort((a, b) => a - b);
      return [
        flows,
        String(sorted.length),
        ...[0.1, 0.25, 0.5, 0.75, 0.9].map((level) => quantile(sorted, level).toFixed(2)),
      ];
    }),
  };
}
