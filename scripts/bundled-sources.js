/** Bundles the project's TypeScript, so that scripts can run it in Node. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { ROOT as root } from './command-line.js';

/** Imports a module (path from the project's root) through a temporary bundle. Returns its exports. */
export async function bundledSources(entry) {
  mkdirSync(join(root, 'build'), { recursive: true });
  const folder = mkdtempSync(join(root, 'build', 'sources-'));
  try {
    const rolldownOptions = { input: { sources: entry }, preserveEntrySignatures: 'strict' };
    const options = { ssr: true, outDir: folder, target: 'node20', rolldownOptions };
    await build({ root, configFile: false, logLevel: 'warn', publicDir: false, build: options });
    return await import(pathToFileURL(join(folder, 'sources.js')).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
