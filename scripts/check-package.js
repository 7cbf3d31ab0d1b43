/** `npm run check:package`: checks the packages as npm packs them. It needs their builds, but not the network. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'acorn';
import { commandLine, ROOT, read } from './command-line.js';

commandLine(`usage: npm run check:package

Checks package.json and what it exports with publint, the types of every entry with attw in each mode of resolution, and
docs/api.txt against them; that source maps have their sources; that the files for browsers are ES2022, that the
plugin's have no foreign code, and that the foreign code of the command's pages is under a licence that allows it; that
no script runs when the packages are installed. The exit status is 1 if something is found.`);

/**
 * This rule of attw does not apply, because the packages are ES modules only. A copy in CommonJS would double the files
 * for `require`. Bundlers of pages do not need it, and Node requires ES modules from 20.19 on.
 */
const IGNORED = 'cjs-resolves-to-esm';

/** Licences under which code may be bundled with code under Apache-2.0, if their text is beside it. */
const LICENCES = /^(MIT|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|0BSD)$/;

for (const [program, ...args] of [
  ['publint/src/cli.js', '--strict'],
  ['publint/src/cli.js', '--strict', 'cli'],
  ['../scripts/api-report.js', '--check'],
  ['@arethetypeswrong/cli/dist/index.js', '--pack', '.', '--no-definitely-typed', '--ignore-rules', IGNORED],
]) {
  const command = [`node_modules/${program}`, ...args];
  const { status } = spawnSync(process.execPath, command, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

const found = (message) => {
  console.error(message);
  process.exitCode = 1;
};

for (const file of ['package.json', 'cli/package.json']) {
  const names = Object.keys(JSON.parse(read(file)).scripts ?? {});
  // npm 11 warns of them at each installation. `prepublish` runs only where a checkout is installed.
  const bad = names.find((name) => /^(pre|post)?(install|prepare)$/.test(name));
  if (bad) found(`${file}: expected no script that runs at installation, got ${bad}`);
}

/** The scripts of a folder for browsers. */
const scriptsIn = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => `${folder}/${name}`);
for (const path of ['dist', 'cli/dist/demo', 'cli/dist/bench-page', 'cli/dist/page'].flatMap(scriptsIn)) {
  try {
    parse(read(path), { ecmaVersion: 2022, sourceType: 'module' });
  } catch (error) {
    found(`${path}: expected ES2022: ${error.message}`);
  }
}
for (const name of readdirSync(join(ROOT, 'dist')).filter((one) => one.endsWith('.js.map'))) {
  const { sources, sourcesContent } = JSON.parse(read(`dist/${name}`));
  if (sourcesContent?.filter(Boolean).length !== sources.length)
    found(`dist/${name}: expected the text of each source`);
  const foreign = sources.find((source) => source.includes('node_modules'));
  if (foreign) found(`dist/${name}: expected this project's sources only, got ${foreign}`);
}
for (const page of ['cli/dist/demo', 'cli/dist/bench-page']) {
  const path = `${page}/LICENSES.md`;
  const headings = existsSync(join(ROOT, path)) ? [...read(path).matchAll(/^## (.+?) - .+ \((.+)\)$/gm)] : [];
  if (headings.length === 0) found(`${path}: expected the licences of what the page bundles`);
  for (const [, name, licence] of headings) {
    if (!LICENCES.test(licence)) found(`${path}: ${name}: expected a licence like ${LICENCES.source}, got ${licence}`);
  }
}
