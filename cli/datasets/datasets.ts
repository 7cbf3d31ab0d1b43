/** `leo-abr datasets`: fetches public data sets and converts them to traces. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import { filesOf, recordingsIn } from '../../replay/datasets/dataset-files.ts';
import { RECIPES, type Recipe, type RecipeSource } from '../../replay/datasets/recipes.ts';
import { writeFilesAtomically } from '../../replay/formats/write-file.ts';
import { count } from '../report/format.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, ExitWith } from '../shared/exit-status.ts';
import { type Watched, watched, withProgress } from '../shared/progress.ts';
import { readJson } from '../shared/results-file.ts';
import { cacheFolder } from '../tool.ts';
import { folderPlace, type Place, WebPlace } from './places.ts';

export function datasetsCommand(io: CommandIo): Command {
  return new Command('datasets')
    .description('fetch public data sets as traces')
    .addCommand(listCommand(io))
    .addCommand(fetchCommand(io));
}

function listCommand(io: CommandIo): Command {
  return new Command('list').description('the data sets, their licences and sources').action(() => {
    for (const recipe of RECIPES) io.stdout.write(`${recipe.name}: ${recipe.about}\n${terms(recipe)}`);
  });
}

type FetchFlags = { out: string; acceptLicences?: boolean } & Partial<Record<'from' | 'mirror' | 'cache', string>>;

function fetchCommand(io: CommandIo): Command {
  return new Command('fetch')
    .description('download, check and convert data sets; a second fetch downloads nothing')
    .argument('<name...>', 'data sets of `leo-abr datasets list`')
    .requiredOption('--out <folder>', 'receives a folder of traces per data set, and checksums of what they came from')
    .option('--from <folder>', 'what was downloaded by hand: <owner>__<repository>/<path>')
    .option('--mirror <url>', 'another place for the downloads, with the same layout as --from')
    .option('--cache <folder>', 'keeps downloads (default: ~/.cache/leo-abr/datasets)')
    .option('--accept-licences', 'the licences have been read')
    .action((names: string[], flags: FetchFlags) => fetchAll(names, flags, io));
}

async function fetchAll(names: readonly string[], flags: FetchFlags, io: CommandIo): Promise<void> {
  const { out, from, mirror } = flags;
  const recipes = [...new Set(names)].map(recipeOf);
  check(from === undefined || mirror === undefined, '--from', 'no --mirror beside it', from);
  check(/^https?:\/\//.test(mirror ?? 'http://'), '--mirror', 'an http(s) URL', mirror);
  if (from === undefined && flags.acceptLicences !== true) {
    for (const recipe of recipes) io.stderr.write(`${recipe.name}\n${terms(recipe)}`);
    throw new InputError('--accept-licences', 'the flag, once the licences above have been read', undefined, 'none');
  }
  const { cache = join(cacheFolder(io.env), 'datasets') } = flags;
  const place = from === undefined ? new WebPlace(cache, mirror) : folderPlace(from);
  const failed: string[] = [];
  for (const recipe of recipes) {
    try {
      const recordings = await withProgress(io, `files of ${recipe.name}`, (watch) =>
        fetchDataset(recipe, { place, out, ...watch, onNote: (note) => io.stderr.write(`${note}\n`) }),
      );
      io.stderr.write(`${recipe.name}: ${count(recordings, 'recording')} in ${join(out, recipe.name)}\n`);
    } catch (error) {
      if (error instanceof ExitWith) throw error;
      io.stderr.write(`${recipe.name}: ${error instanceof Error ? error.message : error}\n`);
      failed.push(recipe.name);
    }
  }
  if (failed.length === 0) return;
  io.stderr.write(`not fetched: ${failed.join(', ')}; the same command tries them again\n`);
  throw new ExitWith(EXIT_FAULT);
}

function recipeOf(name: string): Recipe {
  const recipe = RECIPES.find((one) => one.name === name);
  if (recipe !== undefined) return recipe;
  throw new InputError('name', `one of ${RECIPES.map((one) => one.name).join(', ')}`, name);
}

/** The licence, each source and the citation, one line each. */
function terms({ licence, cite, sources }: Recipe): string {
  const places = sources.map(({ repository, commit }) => `https://github.com/${repository}/tree/${commit}`);
  const lines = [
    `licence: ${licence}`,
    ...[...new Set(places)].map((place) => `source: ${place}`),
    `cite: ${cite ?? 'the repository, and the paper that its README names'}`,
  ];
  return lines.map((line) => `  ${line}\n`).join('');
}

/** SHA-256 by `owner/repository@commit:path`. The first fetch of a file records its hash. */
type Lock = Record<string, string>;

const LOCK_FILE = 'datasets-lock.json';

type FetchOptions = Required<Watched> & { place: Place; out: string; onNote: (note: string) => void };

/**
 * Writes the folder of the data set and the lock file into `out`. Returns the number of recordings. If a file is
 * missing or wrong, it writes nothing.
 */
async function fetchDataset(recipe: Recipe, options: FetchOptions): Promise<number> {
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
      checkHash(bytes, source, path, lock);
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

/** Compares the file's hash with the recipe and the lock, then keeps it in the lock. */
function checkHash(bytes: Uint8Array, source: RecipeSource, path: string, lock: Lock): void {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = `${source.repository}@${source.commit}:${path}`;
  for (const [origin, expected] of Object.entries({ '': source.sha256, [` of ${LOCK_FILE}`]: lock[key] })) {
    const isSame = expected === undefined || expected === sha256;
    if (!isSame) throw new InputError(key, `SHA-256${origin} ${expected}`, undefined, sha256);
  }
  lock[key] = sha256;
}
