/** Gets the files of data sets from a folder, or from the web through a cache. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { isFileOf } from '../../replay/datasets/dataset-files.ts';
import type { RecipeSource } from '../../replay/datasets/recipes.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';

export interface Place {
  list(source: RecipeSource, signal: AbortSignal): Promise<string[]>;
  read(source: RecipeSource, path: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Forgets a file with wrong content, so that it is downloaded again. */
  discard(source: RecipeSource, path: string): void;
}

/** Names a repository's folder in a folder of downloads and on a mirror: `owner__repository`. */
const folderOf = ({ repository }: RecipeSource) => repository.replace('/', '__');

/** Reads files that were downloaded by hand: `<folder>/<owner>__<repository>/<path>`. */
export function folderPlace(folder: string): Place {
  return {
    async list(source) {
      const root = join(folder, folderOf(source));
      if (!existsSync(root)) throw new InputError('--from', `a folder ${folderOf(source)} in it`, undefined, 'none');
      const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
      return paths.filter((path) => isFileOf(source, path)).sort();
    },
    read: async (source, path) => readFileSync(join(folder, folderOf(source), path)),
    discard() {},
  };
}

/** This file lists a commit's files, in the form of GitHub's API for git trees. */
const TREE = 'tree.json';
type Tree = { path: string }[];

/** GitHub, or a mirror with `<mirror>/<owner>__<repository>/<path>`. Complete files stay in the cache. */
export class WebPlace implements Place {
  constructor(
    private readonly _cache: string,
    private readonly _mirror?: string,
  ) {}

  async list(source: RecipeSource, signal: AbortSignal): Promise<string[]> {
    const { path } = source;
    if (typeof path === 'string') return [path];
    const url = this._urlOf(source, TREE);
    const bytes = await this.read(source, TREE, signal);
    try {
      const { tree, truncated } = JSON.parse(new TextDecoder().decode(bytes)) as { tree: Tree; truncated?: boolean };
      if (truncated) throw new InputError(url, 'the complete list of a git tree', undefined, 'a truncated one');
      const paths = tree.map((file) => file.path).filter((file) => isFileOf(source, file));
      if (paths.length === 0) throw new InputError(url, `files ${path}`, undefined, 'none');
      return paths;
    } catch (error) {
      this.discard(source, TREE);
      throw error instanceof InputError ? error : new InputError(url, 'the JSON of a git tree', error);
    }
  }

  async read(source: RecipeSource, path: string, signal: AbortSignal): Promise<Uint8Array> {
    const file = this._cached(source, path);
    if (!existsSync(file)) writeFileAtomically(file, await download(this._urlOf(source, path), signal));
    return readFileSync(file);
  }

  discard(source: RecipeSource, path: string): void {
    rmSync(this._cached(source, path), { force: true });
  }

  private _cached(source: RecipeSource, path: string): string {
    return join(this._cache, folderOf(source), source.commit, path);
  }

  private _urlOf(source: RecipeSource, path: string): string {
    const { repository, commit } = source;
    if (this._mirror) return `${this._mirror.replace(/\/$/, '')}/${folderOf(source)}/${encodeURI(path)}`;
    return path === TREE
      ? `https://api.github.com/repos/${repository}/git/trees/${commit}?recursive=1`
      : `https://raw.githubusercontent.com/${repository}/${commit}/${encodeURI(path)}`;
  }
}

async function download(url: string, signal: AbortSignal): Promise<Uint8Array> {
  const fail = (error: Error) => {
    signal.throwIfAborted();
    throw new InputError(url, 'the file', error.cause ?? error);
  };
  const response = await fetch(url, { signal }).catch(fail);
  const bytes = new Uint8Array(await response.arrayBuffer().catch(fail));
  const isPage = /^\s*<(!doctype\s+html|html)/i.test(new TextDecoder('latin1').decode(bytes.subarray(0, 1024)));
  if (response.ok && !isPage) return bytes;
  const status = `HTTP ${response.status} ${response.statusText}`.trim();
  throw new InputError(url, 'the file', undefined, response.ok ? 'an HTML page' : status);
}
