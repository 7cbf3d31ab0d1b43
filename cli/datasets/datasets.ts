/** `leo-abr datasets`: fetches public data sets and converts them to traces. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
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

interface FetchFlags {
  out: string;
  from?: string;
  mirror?: string;
  cache?: string;
  acceptLicences?: boolean;
}

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
  if (from !== undefined && mirror !== undefined) throw new InputError('--from', 'no --mirror beside it', from);
  if (mirror !== undefined && !/^https?:\/\//.test(mirror)) throw new InputError('--mirror', 'an http(s) URL', mirror);
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

/** Licence, sources and what to cite, a line each. */
function terms({ licence, cite, sources }: Recipe): string {
  const places = sources.map(({ repository, commit }) => `https://github.com/${repository}/tree/${commit}`);
  const lines = [
    `licence: ${licence}`,
    ...[...new Set(places)].map((place) => `source: ${place}`),
    `cite: ${cite ?? 'the repository, and the paper that its README names'}`,
  ];
  return lines.map((line) => `  ${line}\n`).join('');
}

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
