/** Writes files atomically. Node only. */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

type Content = string | Uint8Array | Iterable<string>;

/** Makes a folder and those above it. Node's recursive `mkdir` never ends where a folder cannot be made, as in /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  }
}

/** Renames a temporary file, so that readers see either the old or the new content. Makes folders. */
export function writeFileAtomically(file: string, content: Content): void {
  writeFilesAtomically([[file, content]]);
}

/** Writes several files and renames them once all are complete. Pieces are written as they are made. */
export function writeFilesAtomically(files: readonly (readonly [file: string, content: Content])[]): void {
  const temporaries = new Map<string, string>();
  let at = '';
  try {
    for (const [file, content] of files) {
      at = file;
      makeFolder(dirname(file));
      const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
      const descriptor = openSync(temporary, 'w');
      temporaries.set(file, temporary);
      try {
        const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
        for (const piece of pieces) writeFileSync(descriptor, piece);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    }
    for (const [file, temporary] of temporaries) {
      at = file;
      renameSync(temporary, file);
    }
  } catch (error) {
    for (const temporary of temporaries.values()) rmSync(temporary, { force: true });
    throw writeError(at, error);
  }
}

/** An `InputError` of the file for a failed system call. Other errors come from the making of the content. */
export function writeError(file: string, error: unknown): unknown {
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  return isSystem ? new InputError(file, 'a file that can be written', error) : error;
}
