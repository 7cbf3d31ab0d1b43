/** `sessions.csv`: a row per session, in pieces. */

import { qoeComponents } from '../../replay/evaluation/session-components.ts';
import type { SessionResult } from '../../replay/results.ts';
import type { Run } from './runs.ts';

type Value = string | number | null | undefined;
interface Row {
  run: Run;
  session: SessionResult;
  components: ReturnType<typeof qoeComponents>;
}

const COLUMNS: Readonly<Record<string, (row: Row) => Value>> = {
  scenario: ({ run }) => run.scenarioLabel,
  tier: ({ run }) => run.tier,
  dataset: ({ session }) => session.dataset,
  group: ({ session }) => session.group,
  trace: ({ session }) => session.trace,
  start_s: ({ session }) => session.startSeconds,
  algorithm: ({ session }) => session.algorithm,
  seed: ({ session }) => session.seed,
  ended_by: ({ session }) => session.endedBy,
  segments: ({ session }) => session.segments.length,
  qoe_linear: ({ session }) => session.qoe.linear,
  qoe_log: ({ session }) => session.qoe.log,
  qoe_hd: ({ session }) => session.qoe.hd,
  quality: ({ components }) => rounded(components.quality),
  stall_cost: ({ components }) => rounded(components.stalls),
  startup_cost: ({ components }) => rounded(components.startup),
  switch_cost: ({ components }) => rounded(components.switches),
  mean_bitrate_bps: ({ session }) => session.meanBitrateBps,
  stall_s: ({ session }) => session.stallSeconds,
  stalls: ({ session }) => session.stallCount,
  startup_s: ({ session }) => session.startupSeconds,
  switches: ({ session }) => session.switches,
  switch_bps: ({ session }) => session.switchBps,
  wasted_bits: ({ session }) => session.wastedBits,
};

/** Only if a run is live. */
const LIVE_COLUMNS: typeof COLUMNS = {
  target_latency_s: ({ run }) => run.scenario.live?.targetLatencySeconds,
  live_qoe: ({ session }) => session.live?.qoe,
  latency_mean_s: ({ session }) => session.live?.latencySecondsMean,
  latency_p95_s: ({ session }) => session.live?.latencySecondsP95,
  stalls_per_min: ({ session }) => session.live?.stallsPerMinute,
  stall_s_per_min: ({ session }) => session.live?.stallSecondsPerMinute,
  off_rate_share: ({ session }) => session.live?.offRateShare,
  rate_deviation: ({ session }) => session.live?.rateDeviationMean,
  jumps: ({ session }) => session.live?.jumps,
};

/** Only if a run is of households. */
const HOUSEHOLD_COLUMNS: typeof COLUMNS = {
  household: ({ session }) => session.household?.name,
  given_algorithm: ({ session }) => session.household?.algorithm,
  player: ({ session }) => session.household?.player,
  join_s: ({ session }) => session.household?.joinSeconds,
};

export function* sessionsCsv(runs: readonly Run[]): Generator<string> {
  const hasLive = runs.some(({ scenario }) => scenario.live !== undefined);
  const hasHouseholds = runs.some(({ results }) => results.households !== undefined);
  const shown = { ...COLUMNS, ...(hasLive && LIVE_COLUMNS), ...(hasHouseholds && HOUSEHOLD_COLUMNS) };
  yield `${Object.keys(shown).join(',')}\n`;
  const columns = Object.values(shown);
  for (const run of runs) {
    for (const session of run.results.sessions) {
      const row: Row = {
        run,
        session,
        components: qoeComponents(session, run.scenario),
      };
      yield `${columns.map((column) => field(column(row))).join(',')}\n`;
    }
  }
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Quoted as in RFC 4180; empty if unknown. */
function field(value: Value): string {
  const text = value === null || value === undefined || Number.isNaN(value) ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
