/** Writes `sessions.csv`, a row per session, in pieces. */

import { qoeComponents } from '../../replay/evaluation/figures/qoe-components.ts';
import type { SessionResult } from '../../replay/results.ts';
import { flatFields } from './format.ts';
import type { Run } from './runs.ts';

/** A row has the fields of a session in results.json, such as `qoe.linear`, and the number of its segments. */
export function* sessionsCsv(runs: readonly Run[]): Generator<string> {
  // A field that only live sessions, households or faults have is a column if one session has it.
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
  const target = scenario.live && { targetLatencySeconds: scenario.live.targetLatencySeconds };
  const ofSession = { ...flatFields(fields), segments: segments.length, ...flatFields({ qoeParts: parts }) };
  return { scenario: scenarioLabel, tier, ...ofSession, ...target };
}

/** Quotes a field as in RFC 4180. An unknown value is empty. */
function field(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  const text = String(typeof value === 'number' ? Number(value.toFixed(6)) : value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
