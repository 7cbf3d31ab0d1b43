/** `leo-abr datasets`: fetches public data sets and converts them to traces. */

import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { RECIPES, type Recipe } from '../../replay/datasets/recipes.ts';
import { count } from '../report/format.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, ExitWith } from '../shared/exit-status.ts';
import { withProgress } from '../shared/progress.ts';
import { cacheFolder } from '../tool.ts';
import { fetchDataset } from './fetch-dataset.ts';
import { folderPlace, WebPlace } from './places.ts';

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
