/** `leo-abr trial`: compares the arms of a trial from the reports of its sessions. */

import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { html } from '../report/html.ts';
import { markdown, plainText } from '../report/markdown.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_GUARD_BROKEN, ExitWith } from '../shared/exit-status.ts';
import { requireWritable } from '../shared/results-file.ts';
import { trialDocument } from './compare-arms.ts';
import { checkGuards, parseGuards } from './guards.ts';
import { readSums } from './read-sums.ts';
import { sumsOf } from './sums-sql.ts';

type TrialFlags = Partial<Record<'name' | 'control' | 'out' | 'sql' | 'guard', string>> & { sums?: boolean };

export function trialCommand(io: CommandIo): Command {
  return new Command('trial')
    .description("compare the arms of a trial from its sessions' reports")
    .argument('[files...]', 'reports as NDJSON or Parquet: files, folders or globs')
    .option('--name <trial>', 'the trial, if the reports have several')
    .option('--control <arm>', "arm to compare with (default: the one with the player's own algorithm)")
    .option('--guard <limits>', `print one sentence; status ${EXIT_GUARD_BROKEN} if a limit is broken for certain`)
    .option('--out <folder>', 'write the comparison as index.html and report.md')
    .option('--sums', 'the files hold the sums of --sql (also as CSV)')
    .option('--sql <table>', 'print the SQL of these sums over a table of valid reports, for a warehouse')
    .action((files: string[], flags: TrialFlags) => runTrial(files, flags, io));
}

async function runTrial(paths: string[], flags: TrialFlags, io: CommandIo): Promise<void> {
  const { name: trial, control, out, sql, guard, sums: areSums = false } = flags;
  if (sql !== undefined) return void io.stdout.write(`${sumsOf(sql)}\n`);
  if (paths.length === 0) throw new InputError('files', 'files, folders or globs of reports', undefined, 'none');
  if (out !== undefined && guard !== undefined) throw new InputError('--out', 'no --guard beside it', out);
  if (out !== undefined) requireWritable(out, '--out', 'folder');
  const guards = guard === undefined ? undefined : parseGuards(guard);
  const read = await readSums({ paths, areSums, trial, threads: io.defaultJobs });
  if (guards) {
    const { sentence, isBroken } = checkGuards(read, guards, control);
    io.stdout.write(`${sentence}\n`);
    if (isBroken) throw new ExitWith(EXIT_GUARD_BROKEN);
    return;
  }
  const document = trialDocument(read, control);
  for (const piece of plainText(document)) io.stdout.write(piece);
  if (out === undefined) return;
  writeFilesAtomically([
    [join(out, 'index.html'), html(document)],
    [join(out, 'report.md'), markdown(document)],
  ]);
  io.stderr.write(`index.html and report.md in ${out}\n`);
}
