/** What `npm run check` has on the packages as packed. It needs their builds, but not the network. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run check:package

Checks package.json and what it exports with publint, and the types of every entry with attw in each mode of resolution.
The exit status is 1 if one of them finds something.`);

/**
 * The rule of attw that does not apply: the packages are ES modules only. A copy of the plugin in CommonJS would double
 * its files for `require`, which bundlers of pages do not need and Node has for ES modules, from 20.19 on.
 */
const IGNORED = 'cjs-resolves-to-esm';

const root = fileURLToPath(new URL('..', import.meta.url));
for (const [program, ...args] of [
  ['publint/src/cli.js', '--strict'],
  ['publint/src/cli.js', '--strict', 'cli'],
  ['@arethetypeswrong/cli/dist/index.js', '--pack', '.', '--no-definitely-typed', '--ignore-rules', IGNORED],
]) {
  // `npm pack` would build everything again.
  const env = { ...process.env, npm_config_ignore_scripts: 'true' };
  const command = [`node_modules/${program}`, ...args];
  const { status } = spawnSync(process.execPath, command, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
