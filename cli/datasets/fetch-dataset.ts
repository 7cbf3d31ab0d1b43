/** Fetches a data set: gets its files, checks them, converts them, writes its traces all together. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { filesOf, recordingsIn } from '../../replay/datasets/dataset-files.ts';
import type { Recipe, RecipeSource } from '../../replay/datasets/recipes.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { type Watched, watched } from '../shared/progress.ts';
import { readJson } from '../shared/results-file.ts';
import type { Place } from './places.ts';

/** SHA-256 by `owner/repository@commit:path`, recorded when a file is fetched first. */
type Lock = Record<string, string>;

const LOCK_FILE = 'datasets-lock.json';

interface FetchOptions extends Required<Watched> {
  place: Place;
  /** Receives `<name of the data set>/` and the lock file. */
  out: string;
  onNote: (note: string) => void;
}

/** Returns the number of recordings. If a file is missing or wrong, nothing is written. */
export async function fetchDataset(recipe: Recipe, options: FetchOptions): Promise<number> {
  const { place, out, signal, onNote } = options;
  const lockFile = join(out, LOCK_FILE);
  const lock = existsSync(lockFile) ? (readJson(lockFile, '--out') as Lock) : {};
  const files: { source: RecipeSource; path: string }[] = [];
  for (const source of recipe.sources) {
    const found = await place.list(source, signal);
    if (found.length === 0) onNote(`${recipe.name}: no file ${source.path} in ${source.repository}: left out`);
    for (const path of found) files.push({ source, path });
  }
  const written = new Map<string, string>();
  let recordings = 0;
  for await (const { source, path } of watched(files, options)) {
    const bytes = await place.read(source, path, signal);
    try {
      check(bytes, source, path, lock);
      for (const recording of recordingsIn(recipe, source, path, bytes)) {
        const contents = filesOf(recipe, source, path, recording);
        if (contents.some(([name]) => written.has(name))) {
          onNote(`${path}: omitted, another file has a recording ${recording.name}`);
          continue;
        }
        for (const [name, content] of contents) written.set(name, content);
        recordings++;
      }
    } catch (error) {
      place.discard(source, path);
      throw error;
    }
  }
  if (recordings === 0) throw new InputError(recipe.name, 'recordings', undefined, 'none');
  writeFilesAtomically([
    ...Array.from(written, ([name, content]) => [join(out, recipe.name, name), content] as const),
    [lockFile, `${JSON.stringify(lock, Object.keys(lock).sort(), 2)}\n`],
  ]);
  return recordings;
}

/** Compares with the recipe and the lock, or adds to the lock. */
function check(bytes: Uint8Array, source: RecipeSource, path: string, lock: Lock): void {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = `${source.repository}@${source.commit}:${path}`;
  for (const [origin, expected] of [
    ['SHA-256', source.sha256],
    [`SHA-256 of ${LOCK_FILE}`, lock[key]],
  ]) {
    if (expected !== undefined && expected !== sha256) {
      throw new InputError(key, `${origin} ${expected}`, undefined, sha256);
    }
  }
  lock[key] = sha256;
}
