/** Reads and checks the user's own algorithms. Node only. */

import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { InputError } from '../abr/errors.ts';
import { importOwnAlgorithms, type OwnAlgorithm } from './own-algorithm.ts';

/** A JavaScript module of each file and its imports; an `InputError` if a file creates no controller. */
export async function bundleAlgorithms(names: readonly string[]): Promise<OwnAlgorithm[]> {
  const algorithms = await Promise.all([...new Set(names)].map(bundled));
  const controllers = await importOwnAlgorithms(algorithms);
  for (const create of controllers.values()) create({ seed: 1 });
  return algorithms;
}

async function bundled(name: string): Promise<OwnAlgorithm> {
  const file = resolve(name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InputError(name, 'a readable file', error);
  }
  try {
    // A development dependency, which an installed command lacks.
    const { build } = await import('vite');
    const built = await build({
      root: dirname(file),
      configFile: false,
      logLevel: 'silent',
      publicDir: false,
      build: {
        write: false,
        target: 'es2022',
        minify: false,
        lib: { entry: file, formats: ['es'], fileName: 'algorithm' },
      },
    });
    const [library] = built as Extract<typeof built, unknown[]>;
    return sourceOf(name, library!.output[0].code);
  } catch (error) {
    const message = stripVTControlCharacters(String(error));
    const isMissing = message.includes("package 'vite'");
    const code = isMissing ? alone(file, text) : undefined;
    if (code !== undefined) return sourceOf(name, code);
    const expected = isMissing ? 'npm install vite, to bundle it' : 'a module that vite can bundle';
    throw new InputError(name, expected, error, message);
  }
}

/** Stack traces name the file, but with lines of the bundle. */
const sourceOf = (name: string, code: string): OwnAlgorithm => ({
  name,
  source: `${code}\n//# sourceURL=${encodeURI(name)}?bundled`,
});

/** A file that imports only types needs no bundler. Node can remove types from 22.13 on. */
function alone(file: string, text: string): string | undefined {
  const { stripTypeScriptTypes: strip } = nodeModule as { stripTypeScriptTypes?: (code: string) => string };
  const code = file.endsWith('.ts') ? strip?.(text) : text;
  return code !== undefined && !/^\s*(import\b|(export\b.*|})\s*from\b)/m.test(code) ? code : undefined;
}
