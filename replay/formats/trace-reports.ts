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
  let [lines, invalid] = [0, 0];
  const traces: Trace[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    lines++;
    const report = reportOf(line);
    if (report === undefined) invalid++;
    // A live download may wait for the encoder: its throughput is no capacity.
    if (report?.observations === undefined || report.live || reportIds.has(report.id)) continue;
    reportIds.add(report.id);
    traces.push(...tracesOf(report, source));
  }
  if (invalid > 0) onNote?.(`${file}: ${invalid} of ${lines} lines are no valid reports`);
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
  const seconds = observations!.split(',').map((kbps) => (kbps === '' ? Number.NaN : 1000 * Number(kbps)));
  const ratesBps = bridged(seconds);
  if (!ratesBps.some((rate) => rate > 0)) return [];
  // Reports outside a trial do not say whether they are of the same viewer.
  const [days, viewers] = [
    Math.floor(Date.parse(day) / DAY_MS) % FOLDS,
    cluster === undefined ? null : cluster % FOLDS,
  ];
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
  const all = Float64Array.from(rates);
  let last = Number.NaN;
  for (let i = 0; i < all.length; i++) {
    if (Number.isNaN(rates[i])) continue;
    const pause = i - last - 1;
    for (let k = 1; pause <= LONGEST_PAUSE_SECONDS && k <= pause; k++) {
      all[last + k] = rates[last]! + ((rates[i]! - rates[last]!) * k) / (pause + 1);
    }
    last = i;
  }
  return all;
}
