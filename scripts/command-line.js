/** What the scripts behind `npm run` share: the folder of the project, its files, and their command lines. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Reads a text file. The path is absolute, or relative to the project's folder. */
export const read = (path) => readFileSync(resolve(ROOT, path), 'utf8');

/** The paths of the files in git that fit these patterns, relative to the project's folder. */
export const gitFiles = (...patterns) =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');

/**
 * Returns `values` and `positionals` of Node's `parseArgs`, and `refuse(message)` for arguments that the script itself
 * finds wrong. `options` go to `parseArgs`, which also accepts `--help`. `positionals` is the largest number of
 * arguments without a name, by default 0. `--help` prints the usage text and ends the process with status 0. If an argument is
 * wrong, the process prints the fault and the usage text on standard error and ends with status 2.
 */
export function commandLine(usage, { options = {}, positionals = 0 } = {}) {
  const refuse = (message) => {
    console.error(`${message}\n\n${usage}`);
    process.exit(2);
  };
  let parsed;
  try {
    parsed = parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals: positionals > 0 });
  } catch (error) {
    refuse(error.message);
  }
  if (parsed.values.help) {
    console.log(usage);
    process.exit(0);
  }
  const excess = parsed.positionals[positionals];
  if (excess !== undefined) refuse(`unexpected argument ${excess}: expected at most ${positionals}`);
  return { ...parsed, refuse };
}
