/** Fetches a data set: gets its files, checks them, converts them, writes its traces all together. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { filesOf, recordingsIn } from '../../replay/datasets/dataset-files.ts';
import type { Recipe, Source } from '../../replay/datasets/recipes.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { type Watched, watched } from '../progress.ts';
import { gitBlobOf, sha256Of } from './download.ts';
import type { Place, PlacedFile } from './places.ts';

/** SHA-256 by `owner/repository@commit:path`, recorded when a file is fetched first. */
type Lock = Record<string, string>;

export const LOCK_FILE = 'datasets-lock.json';

interface FetchOptions extends Required<Watched> {
  place: Place;
  /** Receives `<name of the data set>/` and the lock file. */
  out: string;
  onNote: (note: string) => void;
}

/**
 * Returns the number of recordings written.
 * @throws {InputError} if a file is missing, differs from its checksum, or cannot be converted or written. Nothing is
 * written then.
 */
export async function fetchDataset(recipe: Recipe, options: FetchOptions): Promise<number> {
  const { place, out, signal, onNote } = options;
  const lock = readLock(out);
  const files: { source: Source; file: PlacedFile }[] = [];
  for (const source of recipe.sources) {
    const found = await place.list(source, signal);
    if (found.length === 0) onNote(`${recipe.name}: no file ${source.path} in ${source.repository}: left out`);
    for (const file of found) files.push({ source, file });
  }
  const written = new Map<string, string>();
  let recordings = 0;
  for await (const { source, file } of watched(files, options)) {
    const bytes = await place.read(source, file.path, signal);
    try {
      check(bytes, source, file, lock);
      for (const recording of recordingsIn(recipe, source, file.path, bytes)) {
        const contents = filesOf(recipe, source, file.path, recording);
        if (contents.some(([name]) => written.has(name))) {
          onNote(`${file.path}: omitted, another file has a recording ${recording.name}`);
          continue;
        }
        for (const [name, content] of contents) written.set(name, content);
        recordings++;
      }
    } catch (error) {
      place.discard(source, file.path);
      throw error;
    }
  }
  if (recordings === 0) throw new InputError(recipe.name, 'recordings', undefined, 'none');
  writeFilesAtomically([
    ...Array.from(written, ([name, content]) => [join(out, recipe.name, name), content] as const),
    [join(out, LOCK_FILE), `${JSON.stringify(lock, Object.keys(lock).sort(), 2)}\n`],
  ]);
  return recordings;
}

/** Whether a fetch into the folder got this data set before. */
export function isLocked(recipe: Recipe, out: string): boolean {
  const keys = Object.keys(readLock(out));
  return recipe.sources.every((source) => keys.some((key) => key.startsWith(keyPrefix(source))));
}

const keyPrefix = ({ repository, commit, path }: Source) =>
  `${repository}${commit === undefined ? '' : `@${commit}`}:${typeof path === 'string' ? path : ''}`;

function readLock(out: string): Lock {
  const file = join(out, LOCK_FILE);
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new InputError(file, 'a JSON object', error);
  }
}

/** Compares with the recipe, the git tree and the lock, or adds to the lock. */
function check(bytes: Uint8Array, source: Source, { path, blob }: PlacedFile, lock: Lock): void {
  const sha256 = sha256Of(bytes);
  const key = `${source.repository}${source.commit === undefined ? '' : `@${source.commit}`}:${path}`;
  for (const [origin, expected, got] of [
    ['SHA-256', source.sha256, sha256],
    ['git blob', blob, gitBlobOf(bytes)],
    [`SHA-256 of ${LOCK_FILE}`, lock[key], sha256],
  ] as const) {
    if (expected !== undefined && expected !== got) throw new InputError(key, `${origin} ${expected}`, undefined, got);
  }
  lock[key] = sha256;
}
