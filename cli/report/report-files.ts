/** The files of a report, each in pieces that are made when they are written. Imports the plotting library. */

import { html } from './html.ts';
import { markdown } from './markdown.ts';
import { type ReportOptions, reportDocument } from './report-document.ts';
import type { Run } from './runs.ts';
import { sessionsCsv } from './sessions-csv.ts';

export function reportFiles(runs: readonly Run[], options: ReportOptions): Record<string, Iterable<string>> {
  const document = reportDocument(runs, options);
  return { 'sessions.csv': sessionsCsv(runs), 'report.md': markdown(document), 'index.html': html(document) };
}
