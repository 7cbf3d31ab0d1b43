/** The rows of docs/results, from results files: what `leo-abr simulate`, `bench`, `merge` and `transport sweep` write. */

import { groupBy } from '../replay/evaluation/group-by.ts';
import { householdSummary } from '../replay/evaluation/household-figures.ts';
import { summarise } from '../replay/evaluation/summary.ts';
import { shownGapClosed } from '../replay/evaluation/verdicts.ts';
import type { Estimate, Results, SummaryRow } from '../replay/results.ts';
import { ratiosToDefault, type SweepRow, settingMedians } from '../transport/sweep.ts';

/** By column; an estimate is [value, low, high]. Null: does not apply. */
export type ResultRow = Record<string, string | number | readonly number[] | null>;

interface Sweep {
  impairment: string;
  rows: readonly SweepRow[];
  tool: { seed: number };
}

export function resultRows(file: Results | Sweep): ResultRow[] {
  if (!('summary' in file)) return sweepRows(file);
  return file.households ? householdRows(file) : sessionRows(file);
}

function cell(of: Estimate | null | undefined): readonly number[] | null {
  return of ? [of.value, ...(of.ci95 ?? [])] : null;
}

/** Data sets whose recordings are named after their transport also have rows for each: TCP and UDP see different links. */
function sessionRows({ sessions, summary, scenario, tool }: Results): ResultRow[] {
  const byTransport = groupBy(
    sessions.flatMap((session) => {
      const transport = /-(udp|tcp)-/.exec(session.trace)?.[1];
      return transport ? [{ ...session, dataset: `${session.dataset} ${transport}` }] : [];
    }),
    ({ dataset }) => dataset,
  );
  const parts = [...byTransport.values()].flatMap((part) =>
    summarise(part, { scenario, baseline: tool.baseline, seed: tool.seed }),
  );
  return [summary, parts].flatMap((rows) =>
    rows.map((row) => ({
      scenario: scenario.name,
      ...summaryCells(row),
      'gap closed': cell(shownGapClosed(row, rows)),
    })),
  );
}

function summaryCells({ live, vsBaseline: versus, ...row }: SummaryRow): ResultRow {
  return {
    recordings: row.dataset,
    algorithm: row.algorithm,
    sessions: row.sessions,
    QoE: live?.qoe ?? row.qoeMean,
    'Mbit/s': row.meanBitrateBps / 1e6,
    'stalls, s': row.stallSecondsMean,
    'worst 5 %, s': row.stallSecondsWorst5pct,
    'over 10 s, %': 100 * row.severeShare,
    ...(live && {
      'stalls / min': live.stallsPerMinute,
      'stall s / min': live.stallSecondsPerMinute,
      'latency, s': live.latencySecondsMean,
      'latency p95, s': live.latencySecondsP95,
      'off rate 1, %': 100 * live.offRateShare,
    }),
    'QoE, difference': cell(versus?.live?.qoeDiff ?? versus?.qoeDiff),
    'worst 5 %, difference': cell(versus?.worst5pctDiff),
    'QoE ratio': cell(versus?.qoeMeanRatio),
  };
}

function householdRows(results: Results): ResultRow[] {
  return householdSummary(results).map(({ algorithm, difference, ...row }) => ({
    household: results.tool.household?.name ?? null,
    algorithm,
    households: row.households,
    'QoE, sum': row.qoeSum,
    least: row.qoeLeast,
    'stalls, s': row.stallSecondsMean,
    'worst 5 %, s': row.stallSecondsWorst5pct,
    'unfairness, QoE': row.qoeUnfairness,
    bitrate: row.bitrateUnfairness,
    instability: row.instability,
    'utilisation, %': 100 * row.linkUtilisation,
    'sum, difference': cell(difference?.qoeSum),
    'least, difference': cell(difference?.qoeLeast),
  }));
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
