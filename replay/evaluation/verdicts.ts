/** What a summary can show: where the oracle is a ceiling, and which data sets have too few sessions or recordings. */

import { ALL_DATASETS, type Estimate, type SummaryRow } from '../results.ts';
import { ORACLE } from './comparison.ts';
import { groupBy } from './group-by.ts';

/** Fewer sessions of an algorithm decide nothing. */
const FEWEST_SESSIONS = 8;

/**
 * `oracleGapClosed` for readers: undefined also where the oracle's lead over the baseline is not clearly positive (its
 * 95 % interval includes 0, or there is none). Older results have it above 1.
 */
export function shownGapClosed(row: SummaryRow, summary: readonly SummaryRow[]): Estimate | undefined {
  const closed = row.vsBaseline?.oracleGapClosed;
  const oracle = summary.find(({ dataset, algorithm }) => dataset === row.dataset && algorithm === ORACLE);
  const [lowestLead] = oracle?.vsBaseline?.qoeDiff.ci95 ?? [0];
  return closed && closed.value <= 1 && lowestLead > 0 ? closed : undefined;
}

/** A sentence on the data sets with fewer than eight sessions of an algorithm; undefined without any. */
export function tooFewSessions(summary: readonly SummaryRow[]): string | undefined {
  const few = [...groupBy(summary, ({ dataset }) => dataset)].filter(([, rows]) =>
    rows.some(({ sessions }) => sessions < FEWEST_SESSIONS),
  );
  const names = few.map(([dataset]) => (dataset === ALL_DATASETS ? 'all together' : dataset));
  if (names.length === 0) return undefined;
  const what = few.every(([, rows]) => rows.every(({ sessions }) => sessions === 1))
    ? 'One session per algorithm decides'
    : `Fewer than ${FEWEST_SESSIONS} sessions per algorithm decide`;
  return `${what} nothing: ${names.join(', ')}.`;
}

/** The data sets with one recording, which share a table; empty if there are fewer than two. */
export function oneRecordingDatasets(summary: readonly SummaryRow[]): Set<string> {
  const found = [...groupBy(summary, ({ dataset }) => dataset)]
    .filter(
      ([dataset, rows]) =>
        dataset !== ALL_DATASETS &&
        (rows.some(({ vsBaseline }) => vsBaseline !== null && vsBaseline.units < 2) ||
          rows.every(({ sessions }) => sessions === 1)),
    )
    .map(([dataset]) => dataset);
  return new Set(found.length < 2 ? [] : found);
}
