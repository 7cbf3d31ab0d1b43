/** Recordings from the reports of a page's sessions (abr/session-report.ts), one per line. Browser-safe. */

import { type SessionReport, validSessionReport } from '../../abr/session-report.ts';
import type { Trace } from '../trace.ts';
import { type TraceSource, tracesFromSamples } from './samples.ts';

const REPORTS_DATASET = 'reports';
/** Viewers and days are in so many folds each; a recording group is a fold of both. */
const FOLDS = 3;
/** A pause of a player with a full buffer, up to which the rate is a straight line. */
const LONGEST_PAUSE_SECONDS = 4;
const DAY_MS = 86_400_000;

/** A trace per part without a longer pause, named after the id; known and unusable ones are left out. */
export function parseReports(text: string, source: TraceSource): Trace[] {
  const { file = source.name, onNote, reportIds = new Set() } = source;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const reports = lines.map(reportOf).filter((report) => report !== undefined);
  const traces = reports.flatMap((report) => {
    // A live download may wait for the encoder: its throughput is no capacity.
    if (report.observations === undefined || report.live || reportIds.has(report.id)) return [];
    reportIds.add(report.id);
    return tracesOf(report, source);
  });
  const invalid = lines.length - reports.length;
  if (invalid > 0) onNote?.(`${file}: ${invalid} of ${lines.length} lines are no valid reports`);
  if (traces.length === 0) onNote?.(`${file}: no report on demand has observations`);
  return traces;
}

function reportOf(line: string): SessionReport | undefined {
  try {
    return validSessionReport(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function tracesOf({ id, day, cluster, observations, observedFromMs }: SessionReport, source: TraceSource): Trace[] {
  const ratesBps = bridged(observations!.split(',').map((kbps) => (kbps === '' ? Number.NaN : 1000 * Number(kbps))));
  if (!ratesBps.some((rate) => rate > 0)) return [];
  const days = Math.floor(Date.parse(day) / DAY_MS) % FOLDS;
  // Reports outside a trial do not say whether they are of the same viewer.
  const viewers = cluster === undefined ? null : cluster % FOLDS;
  const metadata = {
    dataset: REPORTS_DATASET,
    recordingGroup: `${REPORTS_DATASET} viewers ${viewers ?? 'unknown'} days ${days}`,
    startUtcMs: observedFromMs!,
    epochPhaseSeconds: (observedFromMs! % 60_000) / 1000,
    other: { viewers, days },
  };
  const timesSeconds = Float64Array.from(ratesBps, (_, second) => second);
  return tracesFromSamples({ timesSeconds, ratesBps }, { ...source, name: id, metadata, onNote: undefined });
}

/** With straight lines across pauses of at most `LONGEST_PAUSE_SECONDS`. */
function bridged(rates: readonly number[]): Float64Array {
  const known = (i: number) => !Number.isNaN(rates[i] ?? Number.NaN);
  return Float64Array.from(rates, (rate, i) => {
    let [before, after] = [i, i];
    while (before > 0 && !known(before)) before--;
    while (after < rates.length && !known(after)) after++;
    if (before === after || !known(before) || !known(after) || after - before - 1 > LONGEST_PAUSE_SECONDS) return rate;
    return rates[before]! + ((rates[after]! - rates[before]!) * (i - before)) / (after - before);
  });
}
