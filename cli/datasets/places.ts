/** Where the files of data sets come from: a folder, or the web by way of a cache. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { isFileOf } from '../../replay/datasets/dataset-files.ts';
import type { Source } from '../../replay/datasets/recipes.ts';
import { downloadFile } from './download.ts';

export interface PlacedFile {
  /** Path in the repository. */
  path: string;
  /** Its name as git blob, where the place lists it. */
  blob?: string;
}

export interface Place {
  /** The files of a source that are in this place. */
  list(source: Source, signal: AbortSignal): Promise<PlacedFile[]>;
  read(source: Source, path: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Forgets a file with wrong content, so that it is downloaded again. */
  discard(source: Source, path: string): void;
}

/** `owner__repository`: the folder of a repository in a folder of downloads and on a mirror. */
const folderOf = ({ repository }: Source) => repository.replace('/', '__');

/** Files that were downloaded by hand: `<folder>/<owner>__<repository>/<path>`. */
export function folderPlace(folder: string): Place {
  return {
    async list(source) {
      const root = join(folder, folderOf(source));
      if (!existsSync(root)) throw new InputError('--from', `a folder ${folderOf(source)} in it`, undefined, 'none');
      const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
      return paths
        .filter((path) => isFileOf(source, path))
        .sort()
        .map((path) => ({ path }));
    },
    async read(source, path) {
      return readFileSync(join(folder, folderOf(source), path));
    },
    discard() {},
  };
}

/** GitHub, or a mirror with `<mirror>/<owner>__<repository>/<path>`. Complete files stay in the cache. */
export function webPlace({ cache, mirror }: { cache: string; mirror?: string | undefined }): Place {
  const cached = (source: Source, path: string) => join(cache, folderOf(source), source.commit!, path);
  const download = async (source: Source, url: string, path: string, signal: AbortSignal) => {
    const file = cached(source, path);
    if (!existsSync(file)) await downloadFile(url, file, signal);
    return readFileSync(file);
  };
  const mirrored = (source: Source, path: string) =>
    `${mirror?.replace(/\/$/, '')}/${folderOf(source)}/${encodeURI(path)}`;
  return {
    async list(source, signal) {
      const { path, repository, commit, byHand } = source;
      if (commit === undefined) {
        const expected = `a folder with ${folderOf(source)}/, unpacked from ${byHand}`;
        throw new InputError('--from', expected, undefined, 'none');
      }
      if (typeof path === 'string') return [{ path }];
      const url =
        mirror === undefined
          ? `https://api.github.com/repos/${repository}/git/trees/${commit}?recursive=1`
          : mirrored(source, TREE);
      const tree = await download(source, url, TREE, signal);
      try {
        const found = treeFiles(tree, url).filter((file) => isFileOf(source, file.path));
        if (found.length > 0) return found;
        throw new InputError(url, `files ${path}`, undefined, 'none');
      } catch (error) {
        rmSync(cached(source, TREE), { force: true });
        throw error;
      }
    },
    read(source, path, signal) {
      const url =
        mirror === undefined
          ? `https://raw.githubusercontent.com/${source.repository}/${source.commit}/${encodeURI(path)}`
          : mirrored(source, path);
      return download(source, url, path, signal);
    },
    discard(source, path) {
      rmSync(cached(source, path), { force: true });
    },
  };
}

/** The list of a commit's files, in the form of GitHub's API for git trees. */
const TREE = 'tree.json';

function treeFiles(bytes: Uint8Array, url: string): PlacedFile[] {
  let json: { tree?: { path?: unknown; type?: unknown; sha?: unknown }[]; truncated?: unknown };
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new InputError(url, 'the JSON of a git tree', error);
  }
  if (!Array.isArray(json?.tree) || json.truncated === true) {
    throw new InputError(url, 'the complete list of a git tree', json?.truncated ? 'a truncated one' : json?.tree);
  }
  return json.tree.flatMap(({ path, type, sha }) =>
    type === 'blob' && typeof path === 'string' ? [{ path, ...(typeof sha === 'string' && { blob: sha }) }] : [],
  );
}
