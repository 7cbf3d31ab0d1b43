/** `leo-abr report`: writes results as an HTML page, as Markdown, and as CSV with a row per session. */

import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { readResults, requireWritable } from '../shared/results-file.ts';
import { runsOf } from './runs.ts';

export function reportCommand(io: CommandIo): Command {
  return new Command('report')
    .description('write results as a page with tables and plots, as Markdown and as CSV')
    .argument('<results.json...>', 'results of simulate, bench or merge')
    .requiredOption('--out <folder>', 'folder for index.html, report.md and sessions.csv')
    .option('--title <text>', 'title of the report (default: the names of the scenarios)')
    .action((files: string[], flags: ReportFlags) => report(files, flags, io));
}

type ReportFlags = { out: string; title?: string };

async function report(files: readonly string[], { out, title }: ReportFlags, io: CommandIo): Promise<void> {
  const twice = files.find((file, i) => files.indexOf(file) < i);
  if (twice !== undefined) throw new InputError('results', 'each file once', undefined, `${twice} twice`);
  requireWritable(out, 'folder');
  const read = files.map((file) => ({ file, results: readResults(file) }));
  const empty = read.find(({ results }) => results.sessions.length === 0);
  if (empty) throw new InputError(`${empty.file}: sessions`, 'at least one session', undefined, 'none');
  const runs = runsOf(read);

  // The import is here, so that other commands start without the plotting library.
  const { reportFiles } = await import('./report-document.ts');
  writeFilesAtomically(Object.entries(reportFiles(runs, title)).map(([name, pieces]) => [join(out, name), pieces]));
  io.stderr.write(`index.html, report.md and sessions.csv in ${out}\n`);
}
