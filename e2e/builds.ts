/** Builds once per run, for all tests, from the sources at that time. `playwright.config.ts` removes the folders. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** Tags a test that a change needs: `npm test` runs it, and all with the tag `@core`. */
export const CHANGE = { tag: '@change' };
/** Tags a test whose result a pause of the host can change. It may fail once (`scripts/test.js`). */
export const TIMING = { tag: '@timing' };

/** Arguments of Vite's builds. Others are modes of `vite.config.ts`. */
const BUILDS: Record<string, string[][]> = {
  demo: [[], ['--mode', 'demo-worker']],
};

/** Makes a folder unless another test has. A test that fails leaves no part of it. */
export function once(name: string, make: (folder: string) => void): string {
  const folder = join(process.env['LEO_ABR_BUILDS']!, name);
  if (existsSync(folder)) return folder;
  // Another worker may make it at the same time.
  const own = `${folder}.${process.pid}.${Date.now()}`;
  make(own);
  if (!existsSync(folder)) renameSync(own, folder);
  return folder;
}

export const builtFolder = (name: string): string =>
  once(name, (outDir) => {
    const build = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error', '--outDir', outDir];
    for (const args of BUILDS[name] ?? [['--mode', name]]) {
      execFileSync(process.execPath, [...build, ...args], { cwd: ROOT });
    }
  });

/** Reads a file of the published package, which this mode builds. */
export const built = (mode: string, file: string): string => readFileSync(join(builtFolder(mode), file), 'utf8');
