/** Writes files atomically. Node only. */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

/**
 * Writes a temporary file and renames it, so that a reader sees either the old content or the new one. Makes missing
 * folders.
 * @throws {InputError} if the file cannot be written.
 */
export function writeFileAtomically(file: string, text: string | Uint8Array): void {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  let opened = false;
  try {
    makeFolder(dirname(file));
    const descriptor = openSync(temporary, 'w');
    opened = true;
    try {
      let written = 0;
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    if (opened) rmSync(temporary, { force: true });
    throw new InputError(file, 'a file that can be written', error);
  }
}

/**
 * Makes a folder and its missing parents. Node's recursive `mkdir` never returns for a folder below /proc, because it
 * retries on ENOENT.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
