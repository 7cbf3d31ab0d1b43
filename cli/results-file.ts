/** Where results go and come from: `--out` checked before any work, written whole or not at all, and read back. */

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { InputError } from '../abr/errors.ts';
import { makeFolder, writeFileAtomically } from '../replay/formats/write-file.ts';
import type { Output } from './command-io.ts';

/** `--out -`: standard output. */
export const STANDARD_OUTPUT = '-';

/** Throws an `InputError` of the flag for a file that could not be written later. Makes its folder. */
export function requireWritable(out: string, field = '--out'): void {
  if (out === STANDARD_OUTPUT) return;
  const unwritable = (got: string) => new InputError(field, 'a file that can be written', undefined, `${out}: ${got}`);
  const probe = join(dirname(out), `.${basename(out)}.${process.pid}.probe`);
  try {
    if (statSync(out, { throwIfNoEntry: false })?.isDirectory()) throw new Error('it is a folder');
    makeFolder(dirname(out));
    writeFileSync(probe, '', { flag: 'wx' });
    rmSync(probe);
  } catch (error) {
    throw unwritable((error as Error).message);
  }
}

export function writeOutput(out: string, text: string, stdout: Output): void {
  if (out === STANDARD_OUTPUT) stdout.write(text);
  else writeFileAtomically(out, text);
}

/** A file's text, or an `InputError` of the flag that named it. */
export function readInput(file: string, field: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new InputError(field, 'a readable file', undefined, `${file}: ${(error as Error).message}`);
  }
}
