/** `leo-abr trial`: compares the arms of a trial from the reports of its sessions. */

import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { html } from '../report/html.ts';
import { markdown, plainText } from '../report/markdown.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { requireWritableFolder } from '../shared/results-file.ts';
import { trialDocument } from './compare-arms.ts';
import { readSums } from './read-sums.ts';
import { sumsOf } from './sums-sql.ts';

type TrialFlags = Partial<Record<'name' | 'control' | 'out' | 'sql', string>> & { sums?: boolean };

export function trialCommand(io: CommandIo): Command {
  return new Command('trial')
    .description("compare the arms of a trial from its sessions' reports")
    .argument('[files...]', 'reports as NDJSON or Parquet: files, folders or globs')
    .option('--name <trial>', 'the trial, if the reports have several')
    .option('--control <arm>', "arm to compare with (default: the one with the player's own algorithm)")
    .option('--out <folder>', 'write the comparison as index.html and report.md')
    .option('--sums', 'the files hold the sums of --sql (also as CSV)')
    .option('--sql <table>', 'print the SQL of these sums over a table of valid reports, for a warehouse')
    .action((files: string[], flags: TrialFlags) => runTrial(files, flags, io));
}

async function runTrial(paths: string[], flags: TrialFlags, io: CommandIo): Promise<void> {
  const { name: trial, control, out, sql, sums: areSums = false } = flags;
  if (sql !== undefined) return void io.stdout.write(`${sumsOf(sql)}\n`);
  if (paths.length === 0) throw new InputError('files', 'files, folders or globs of reports', undefined, 'none');
  if (out !== undefined) requireWritableFolder(out);
  const document = trialDocument(await readSums({ paths, areSums, trial, threads: io.defaultJobs }), control);
  for (const piece of plainText(document)) io.stdout.write(piece);
  if (out === undefined) return;
  writeFilesAtomically([
    [join(out, 'index.html'), html(document)],
    [join(out, 'report.md'), markdown(document)],
  ]);
  io.stderr.write(`index.html and report.md in ${out}\n`);
}
