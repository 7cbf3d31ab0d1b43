/** Writes the verdicts and the summary as a text table for a terminal. */

import { tooFewSessions } from '../../replay/evaluation/figures/verdicts.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { textTable } from '../../replay/formats/text-table.ts';
import { ALL_DATASETS, type Results, type SummaryRow } from '../../replay/results.ts';
import { cellOf } from './document.ts';
import { briefFigures, knownFigures, linkRows, linksText, rowNames, shownRows, summaryFigures } from './figures.ts';
import { cellText } from './format.ts';
import { verdicts } from './verdict.ts';

/** The verdicts, a line per data set and algorithm, then the notes. Empty for an empty summary. */
export function summaryTable(results: Results, { wide = false } = {}): string {
  const { summary, scenario, tool } = results;
  if (summary.length === 0) return '';
  const { means, differences } = summaryFigures(scenario);
  const rows = [...shownRows(summary), ...linkRows(results, true)];
  const names = rowNames(rows);
  const columns = [...names, ...(wide ? knownFigures([...means, ...differences], rows) : briefFigures(scenario))];
  const cells = rows.map((row) => columns.map((column) => cellText(cellOf(column, row))));
  const lines = [
    ...textTable([columns.map(({ title }) => title), ...cells], names.length),
    linksText(results),
    summary.some(({ algorithm }) => algorithm === tool.baseline)
      ? intervalsText(summary)
      : `No session of ${tool.baseline} (--baseline), so no differences.`,
    ...summary.filter(({ dataset }) => dataset !== ALL_DATASETS).flatMap(earlyEnds),
    tooFewSessions(summary) ?? '',
  ];
  const text = (all: readonly string[]) => all.flatMap((line) => (line === '' ? [] : [`${line}\n`])).join('');
  const sentences = text(verdicts(results));
  return (sentences && `${sentences}\n`) + text(lines);
}

/** Says what the differences compare with, and what each data set's intervals resample. Empty without a comparison. */
export function intervalsText(summary: readonly SummaryRow[]): string {
  const compared = [...groupBy(summary, ({ dataset }) => dataset)].flatMap(([dataset, rows]) => {
    const versus = rows.find(({ vsBaseline }) => vsBaseline !== null)?.vsBaseline;
    return versus ? [{ ...versus, name: dataset === ALL_DATASETS ? 'all data sets' : dataset }] : [];
  });
  if (compared.length === 0) return '';
  const resampled = compared
    .filter(({ units }) => units > 1)
    .map(({ name, units, resampledBy: by }) => `${units} ${by === 'mixed' ? 'groups or recordings' : by} of ${name}`);
  const single = compared.filter(({ units }) => units < 2).map(({ name }) => name);
  return [
    `Differences are from ${compared[0]!.baseline}.`,
    ...(resampled.length > 0 ? [`95 % intervals resample ${resampled.join(', ')}.`] : []),
    ...(single.length > 0 ? [`One recording, so no intervals: ${single.join(', ')}.`] : []),
  ].join(' ');
}

function earlyEnds({ dataset, algorithm, cutoffs, faults, pastTrace = 0 }: SummaryRow): string[] {
  const ends = [
    ...(cutoffs > 0 ? [`${cutoffs} cut off`] : []),
    ...(faults > 0 ? [`${faults} ended by a fault`] : []),
    ...(pastTrace > 0 ? [`${pastTrace} ran past the trace's end, into its beginning`] : []),
  ];
  return ends.length === 0 ? [] : [`${dataset}, ${algorithm}: ${ends.join(', ')}.`];
}
