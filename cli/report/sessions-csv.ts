/** `sessions.csv`: a row per session, in pieces. */

import { qoeComponents } from '../../replay/evaluation/figures/qoe-components.ts';
import type { SessionResult } from '../../replay/results.ts';
import { flatFields } from './format.ts';
import type { Run } from './runs.ts';

/** The fields of a session as in results.json, but for its segments; `qoe.linear` is a column. */
export function* sessionsCsv(runs: readonly Run[]): Generator<string> {
  // Fields that only live sessions, households or faults have are columns if one session has them.
  const columns = new Set(runs.flatMap((run) => run.results.sessions.flatMap((one) => Object.keys(rowOf(run, one)))));
  yield `${[...columns].join(',')}\n`;
  for (const run of runs) {
    for (const session of run.results.sessions) {
      const row = rowOf(run, session);
      yield `${Array.from(columns, (name) => field(row[name])).join(',')}\n`;
    }
  }
}

function rowOf({ scenario, scenarioLabel, tier }: Run, session: SessionResult): Record<string, unknown> {
  const { qoe: _, ...parts } = qoeComponents(session, scenario);
  const { segments, ...fields } = { ...session };
  const { targetLatencySeconds } = scenario.live ?? {};
  return {
    ...{
      scenario: scenarioLabel,
      tier,
      ...flatFields(fields),
      segments: segments.length,
      ...flatFields({ qoeParts: parts }),
    },
    ...(targetLatencySeconds !== undefined && { targetLatencySeconds }),
  };
}

/** Quoted as in RFC 4180; empty if unknown. */
function field(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  const text = String(typeof value === 'number' ? Number(value.toFixed(6)) : value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
