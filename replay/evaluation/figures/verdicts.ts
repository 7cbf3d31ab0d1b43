/** What a summary can show: where the oracle is a ceiling, and which data sets have too few sessions or recordings. */

import { ALL_DATASETS, type Estimate, type SummaryRow } from '../../results.ts';
import { ORACLE } from '../comparison.ts';
import { groupBy } from '../group-by.ts';

const FEWEST_SESSIONS = 8;

/** Undefined if the oracle's lead is not clearly positive. */
export function shownGapClosed(row: SummaryRow, summary: readonly SummaryRow[]): Estimate | undefined {
  const closed = row.vsBaseline?.oracleGapClosed;
  const oracle = summary.find(({ dataset, algorithm }) => dataset === row.dataset && algorithm === ORACLE);
  const [lowestLead] = oracle?.vsBaseline?.perceivedDiff.ci95 ?? [0];
  return closed && lowestLead > 0 ? closed : undefined;
}

/** A sentence on the data sets with fewer than eight sessions of an algorithm; undefined without any. */
export function tooFewSessions(summary: readonly SummaryRow[]): string | undefined {
  const few = new Set(summary.filter(({ sessions }) => sessions < FEWEST_SESSIONS).map(({ dataset }) => dataset));
  const names = Array.from(few, (dataset) => (dataset === ALL_DATASETS ? 'all together' : dataset));
  return few.size === 0
    ? undefined
    : `Fewer than ${FEWEST_SESSIONS} sessions per algorithm decide nothing: ${names.join(', ')}.`;
}

/** The data sets with more than one recording, which have figures of their own. Without any: all data sets together. */
export function largeDatasets(summary: readonly SummaryRow[]): string[] {
  const datasets = [...groupBy(summary, ({ dataset }) => dataset)];
  const isLarge = (rows: SummaryRow[]) => {
    const compared = rows.flatMap(({ vsBaseline }) => vsBaseline ?? []);
    return compared.length > 0 ? compared.some(({ units }) => units > 1) : rows.some(({ sessions }) => sessions > 1);
  };
  const large = datasets.filter(([dataset, rows]) => dataset !== ALL_DATASETS && isLarge(rows));
  return (large.length > 0 ? large : datasets.slice(-1)).map(([dataset]) => dataset);
}
