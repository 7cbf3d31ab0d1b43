/** `leo-abr trial`: compares the arms of a trial from the reports of its sessions. */

import { join } from 'node:path';
import { Command } from 'commander';
import { InputError, parsedJson } from '../../abr/errors.ts';
import { html } from '../../cli/report/html.ts';
import { markdown, plainText } from '../../cli/report/markdown.ts';
import type { CommandIo } from '../../cli/shared/command-io.ts';
import { EXIT_GUARD_BROKEN, ExitWith } from '../../cli/shared/exit-status.ts';
import { readInput, requireWritable } from '../../cli/shared/results-file.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { MAX_BYTES, validConfig } from '../trial-config.ts';
import { trialDocument } from './compare-arms.ts';
import { checkGuards, parseGuards } from './guards.ts';
import { readSums } from './read-sums.ts';
import { sumsOf } from './sums-sql.ts';

type TrialFlags = Partial<Record<'name' | 'control' | 'out' | 'sql' | 'guard' | 'check', string>> & { sums?: boolean };

export function trialCommand(io: CommandIo): Command {
  return new Command('trial')
    .description("compare the arms of a trial from its sessions' reports")
    .argument('[files...]', 'reports as NDJSON or Parquet: files, folders or globs')
    .option('--name <trial>', 'the trial, if the reports have several')
    .option('--control <arm>', "arm to compare with (default: the one with the player's own algorithm)")
    .option('--guard <limits>', `print one sentence; status ${EXIT_GUARD_BROKEN} if a limit is broken for certain`)
    .option('--check <trial.json>', 'check the configuration of a trial, and say in a sentence what it does')
    .option('--out <folder>', 'write the comparison as index.html and report.md')
    .option('--sums', 'the files hold the sums of --sql (also as CSV)')
    .option('--sql <table>', 'print the SQL of these sums over a table of valid reports, for a warehouse')
    .action((files: string[], flags: TrialFlags) => runTrial(files, flags, io));
}

async function runTrial(paths: string[], flags: TrialFlags, io: CommandIo): Promise<void> {
  const { name: trial, control, out, sql, guard, check, sums: areSums = false } = flags;
  if (sql !== undefined) return void io.stdout.write(`${sumsOf(sql)}\n`);
  if (check !== undefined) return void io.stdout.write(`${configSentence(check)}\n`);
  if (paths.length === 0) throw new InputError('files', 'files, folders or globs of reports', undefined, 'none');
  if (out !== undefined && guard !== undefined) throw new InputError('--out', 'no --guard beside it', out);
  if (out !== undefined) requireWritable(out, 'folder');
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

/** Says what a configuration does. Throws an `InputError` if it is invalid. */
function configSentence(file: string): string {
  const json = parsedJson(readInput(file, '--check', MAX_BYTES), file);
  const { enabled, trial, shares, options = {} } = named(file, () => validConfig(json));
  const arms = Object.entries(shares).map(([arm, share]) => `${arm} ${Number((100 * share).toPrecision(6))} %`);
  const off = enabled ? '' : 'is switched off (new sessions play without the plugin), else ';
  return `The trial ${trial} ${off}assigns ${arms.join(', ')}; the plugin's options are ${JSON.stringify(options)}.`;
}

function named<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${file}: ${error.field}`, error.expected, error.received);
  }
}
