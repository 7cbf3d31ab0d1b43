/** Writes several files of one folder in pieces, all of them or none. */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { makeFolder } from '../../replay/formats/write-file.ts';

/** Pieces are gathered to about this much before they are written. */
const CHUNK_CHARACTERS = 1 << 16;

/** Throws an `InputError` of the flag for a folder that cannot be written to. Makes it where it is missing. */
export function requireWritableFolder(folder: string, field = '--out'): void {
  const probe = join(folder, `.${process.pid}.probe`);
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isFile()) throw new Error('it is a file');
    makeFolder(folder);
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (error) {
    throw new InputError(field, 'a folder that can be written to', undefined, `${folder}: ${(error as Error).message}`);
  }
}

/** Each file beside its place first; renamed there once all are complete. What was there before stays until then. */
export function writeFolder(folder: string, files: Readonly<Record<string, Iterable<string>>>): void {
  const temporaries: { temporary: string; file: string }[] = [];
  try {
    for (const [name, pieces] of Object.entries(files)) {
      const temporary = join(folder, `.${name}.${process.pid}.tmp`);
      temporaries.push({ temporary, file: join(folder, name) });
      writePieces(temporary, pieces);
    }
    for (const { temporary, file } of temporaries) renameSync(temporary, file);
  } catch (error) {
    for (const { temporary } of temporaries) rmSync(temporary, { force: true });
    throw error;
  }
}

function writePieces(file: string, pieces: Iterable<string>): void {
  const descriptor = openSync(file, 'w');
  try {
    let gathered = '';
    const flush = () => {
      const bytes = Buffer.from(gathered);
      let written = 0;
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
      gathered = '';
    };
    for (const piece of pieces) {
      gathered += piece;
      if (gathered.length >= CHUNK_CHARACTERS) flush();
    }
    flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
