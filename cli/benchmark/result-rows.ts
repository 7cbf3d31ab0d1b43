/** Makes the rows of docs/results from what `simulate`, `bench`, `merge` and `transport sweep` write. */

import { householdSummary } from '../../replay/evaluation/figures/household-figures.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { unitsByDataset } from '../../replay/evaluation/statistics/resampling-units.ts';
import { summarise } from '../../replay/evaluation/summary.ts';
import { textTable } from '../../replay/formats/text-table.ts';
import type { Estimate, Results, SummaryRow } from '../../replay/results.ts';
import { ratiosToDefault, type SweepRow, settingMedians } from '../../transport/sweep.ts';
import type { Column } from '../report/document.ts';
import { householdFigures, shownRows, summaryFigures } from '../report/figures.ts';
import { scaled } from '../report/format.ts';

/** Values by column. An estimate is [value, low, high]. Null means that the column does not apply. */
export type ResultRow = Record<string, string | number | readonly number[] | null>;

/** The part of a file of `transport sweep` that the rows need. */
type Sweep = { impairment: string; rows: readonly SweepRow[]; tool: { seed: number } };

export function resultRows(file: Results | Sweep): ResultRow[] {
  if (!('summary' in file)) return sweepRows(file);
  return file.households ? householdRows(file) : sessionRows(file);
}

/** The rows as text. The first two columns are names. */
export function resultTable(rows: readonly ResultRow[]): string {
  const number = (value: number) => value.toFixed(2);
  const text = (value: ResultRow[string]) => {
    if (typeof value === 'number') return number(value);
    if (value === null || typeof value === 'string') return value ?? '-';
    const [mean, ...ends] = value.map(number);
    return ends.length > 0 ? `${mean} (${ends.join(' to ')})` : mean!;
  };
  const lines = rows.map((row) => Object.values(row).map(text));
  return `${textTable([Object.keys(rows[0] ?? {}), ...lines], 2).join('\n')}\n`;
}

function cell(of: Estimate | null | undefined): readonly number[] | null {
  return of ? [of.value, ...(of.ci95 ?? [])] : null;
}

const TRANSPORT = /-(udp|tcp)-/;

/** If recordings are named after their transport, each transport has rows, because TCP and UDP see different links. */
function sessionRows(results: Results): ResultRow[] {
  const { sessions, summary, scenario, tool } = results;
  const byTransport = groupBy(
    sessions.filter(({ trace }) => TRANSPORT.test(trace)),
    ({ dataset, trace }) => `${dataset} ${TRANSPORT.exec(trace)![1]}`,
  );
  const ways = unitsByDataset(sessions);
  // A transport has the units of its data set.
  const parts = [...byTransport].flatMap(([name, part]) =>
    summarise(
      part.map((session) => ({ ...session, dataset: name })),
      { scenario, baseline: tool.baseline, seed: tool.seed },
      new Map([[name, ways.get(part[0]!.dataset)!]]),
    ),
  );
  const byLink = (['slow', 'other'] as const).map((links) =>
    (results.byLink ?? [])
      .filter((row) => row.links === links)
      .map((row) => ({ ...row, dataset: `${row.dataset}, ${links} links` })),
  );
  // Live rows also have the figures of sessions on demand. Their QoE is the live QoE.
  const both = [summaryFigures({ ladderBps: scenario.ladderBps }), summaryFigures(scenario)];
  const columns = both.flatMap(({ means, differences }) => [...means, ...differences]);
  const figures = [summary, parts, ...byLink].flatMap((rows) =>
    shownRows(rows).map((row) => ({
      ...{ scenario: scenario.name, recordings: row.dataset, algorithm: row.algorithm },
      ...cells(columns, row),
      ...(row.vsBaseline === null && scenario.live === undefined && bestRivals(row, rows)),
    })),
  );
  return [...figures, ...choiceRows(results)];
}

/** How often each algorithm chose each bitrate. */
function choiceRows({ sessions, scenario }: Results): ResultRow[] {
  return [...groupBy(sessions, ({ algorithm }) => algorithm)].flatMap(([algorithm, played]) => {
    const chosen = played.flatMap(({ segments }) => segments.map(({ bitrateBps }) => bitrateBps));
    return scenario.ladderBps.map((bps) => ({
      ...{ scenario: scenario.name, algorithm, 'chosen, Mbit/s': bps / 1e6 },
      'segments, %': (100 * chosen.filter((one) => one === bps).length) / chosen.length,
    }));
  });
}

/** The rival with the best perceived QoE. The oracle and forms of the baseline (`mpc-l:no-rate`) are no rivals. */
function bestRivals({ dataset, algorithm }: SummaryRow, rows: readonly SummaryRow[]): ResultRow {
  const [family] = algorithm.split(':');
  const rivals = rows.filter(
    (row) => row.dataset === dataset && row.vsBaseline && ![family, 'mpc-o'].includes(row.algorithm.split(/[:@]/)[0]),
  );
  if (rivals.length === 0) return {};
  const best = rivals.reduce((a, b) => (b.qoePerceivedMean > a.qoePerceivedMean ? b : a));
  return {
    'best rival': best.algorithm,
    'its perceived': best.qoePerceivedMean,
    'difference to it': cell(scaled(best.vsBaseline!.perceivedDiff, -1)),
    'its stalls, s': best.stallSecondsMean,
    'its QoE': best.qoeMean,
    'its worst 5 %, s': best.stallSecondsWorst5pct,
    'shortest worst 5 %, s': Math.min(...rivals.map(({ stallSecondsWorst5pct }) => stallSecondsWorst5pct)),
  };
}

function householdRows(results: Results): ResultRow[] {
  const columns = Object.values(householdFigures(0)).flat();
  return householdSummary(results).map((row) => ({
    ...{ scenario: results.scenario.name, household: results.tool.household?.name ?? null },
    ...{ players: row.players, algorithm: row.algorithm },
    ...cells(columns, row),
  }));
}

function cells<Row>(columns: readonly Column<Row>[], row: Row): ResultRow {
  return Object.fromEntries(
    columns.map(({ title, of }) => {
      const value = of(row) ?? null;
      return [title, value !== null && typeof value === 'object' ? cell(value) : value];
    }),
  );
}

function sweepRows({ impairment, rows, tool }: Sweep): ResultRow[] {
  return [...ratiosToDefault(rows, tool)].map(([setting, { throughput, rttP95 }]) => {
    const { throughputBps, rttSecondsP95 } = settingMedians(rows, setting);
    return {
      ...{ impairment, setting },
      'throughput, Mbit/s': throughputBps / 1e6,
      'p95 RTT, ms': 1000 * rttSecondsP95,
      'throughput / bbr2': cell(throughput),
      'p95 RTT / bbr2': cell(rttP95),
    };
  });
}
