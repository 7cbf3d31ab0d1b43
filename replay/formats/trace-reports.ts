/** Recordings from the reports of a page's sessions (abr/qoe/session-report.ts), a report per line. Browser-safe. */

import { parseSessionReport, type SessionReport } from '../../abr/qoe/session-report.ts';
import type { Trace } from '../trace.ts';
import { runsOf } from './join-pieces.ts';
import { decimalOf } from './lines.ts';
import { type TraceSource, tracesFromSamples } from './samples.ts';

export const REPORTS_DATASET = 'reports';
/** Number of folds of viewers, and of days. A recording group is a fold of both. */
const FOLDS = 3;
/** Shorter pauses, which a player with a full buffer makes, are bridged. */
const LONGEST_PAUSE_SECONDS = 4;
const DAY_MS = 86_400_000;

/** Makes a trace per part without longer pauses, named after the report's id. Skips repeated and unusable reports. */
export function parseReports(text: string, source: TraceSource): Trace[] {
  const { file = source.name, onNote } = source;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const reports = new Map<string, SessionReport>();
  let invalid = 0;
  for (const line of lines) {
    try {
      const report = parseSessionReport(line);
      if (!reports.has(report.id)) reports.set(report.id, report);
    } catch {
      invalid++;
    }
  }
  // A live download may wait for the encoder: its throughput is no capacity.
  const traces = [...reports.values()].flatMap((report) => (report.live ? [] : tracesOf(report, source)));
  if (invalid > 0) onNote?.(`${file}: ${invalid} of ${lines.length} lines are no valid reports`);
  if (traces.length === 0) onNote?.(`${file}: no report on demand has observations`);
  return traces;
}

function tracesOf(report: SessionReport, source: TraceSource): Trace[] {
  const { id, day, cluster, observations = '', observedFromMs } = report;
  const ratesBps = Float64Array.from(observations.split(','), (kbps) => 1000 * decimalOf(kbps));
  if (!ratesBps.some((rate) => rate > 0)) return [];
  const days = Math.floor(Date.parse(day) / DAY_MS) % FOLDS;
  // Reports outside a trial do not identify viewers.
  const viewers = cluster === undefined ? null : cluster % FOLDS;
  const metadata = {
    keepsRates: true,
    ...{ dataset: REPORTS_DATASET, recordingGroup: `reports viewers ${viewers ?? 'unknown'} days ${days}` },
    ...{ startUtcMs: observedFromMs!, epochPhaseSeconds: (observedFromMs! % 60_000) / 1000, other: { viewers, days } },
  };
  const timesSeconds = ratesBps.map((_, second) => second);
  const pieces = tracesFromSamples({ timesSeconds, ratesBps }, { ...source, name: id, metadata, onNote: undefined });
  return runsOf(pieces, LONGEST_PAUSE_SECONDS).map(({ trace }) => trace);
}
