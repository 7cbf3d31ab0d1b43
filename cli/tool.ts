/** Name, version and commit of this leo-abr for results, and its folders. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TOOL_NAME = 'leo-abr';

/** The folder that this code runs from: `cli/dist` after the build, `cli` from source. */
export const TOOL_FOLDER = dirname(fileURLToPath(import.meta.url));

const PACKAGE_FOLDER = existsSync(join(TOOL_FOLDER, 'package.json')) ? TOOL_FOLDER : dirname(TOOL_FOLDER);

export const TOOL_VERSION: string = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')).version;

/** Finds the folder with this file beside the built command or in a checkout. Throws if the folder is not built. */
export function builtFolder(name: string, file: string, inCheckout = name): string {
  const places = [name, `dist/${name}`, `../${inCheckout}`, `../../${inCheckout}`];
  const folders = places.map((place) => join(TOOL_FOLDER, place));
  const found = folders.find((folder) => existsSync(join(folder, file)));
  if (found === undefined) throw new Error(`not built (npm run build): no ${file} in ${folders.join(', ')}`);
  return found;
}

/** The commit, with `-dirty` if tracked files have changed. Null without git and for an installed package. */
export function toolCommit(): string | null {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', TOOL_FOLDER, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    git('ls-files', '--error-unmatch', join(PACKAGE_FOLDER, 'package.json'));
    return git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*');
  } catch {
    return null;
  }
}

/** The operating system's folder for caches of this command. */
export function cacheFolder({ XDG_CACHE_HOME, LOCALAPPDATA } = process.env, home = homedir): string {
  try {
    return join(XDG_CACHE_HOME || LOCALAPPDATA || join(home(), '.cache'), TOOL_NAME);
  } catch {
    // A user of systemd's DynamicUser, or a container's user without a name, may have no home.
    return join(tmpdir(), TOOL_NAME);
  }
}
