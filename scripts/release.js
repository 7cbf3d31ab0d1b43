/** `npm run release`. Publishes nothing. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run release

From a clean checkout: builds and packs leo-abr and leo-abr-tools twice, each time from nothing, checks sizes and packages
(npm run size, npm run check:package), and writes the two files to build/release/ with their SHA-512. The exit status is
1 if a check finds something, or if the second build has other bytes than the first.`);

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'build/release');

function run(program, ...args) {
  const env = { ...process.env, npm_config_ignore_scripts: program === 'npm' && args[0] === 'pack' ? 'true' : 'false' };
  const { status, stdout } = spawnSync(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (status === 0) return String(stdout);
  console.error(`${stdout}\n${program} ${args.join(' ')}: expected status 0, got ${status}`);
  process.exit(1);
}

/** Builds everything and packs it; returns SHA-512 by file. */
function pack() {
  for (const made of ['dist', 'cli/dist', 'build/demo', 'build/tsbuild', 'build/release']) {
    rmSync(join(root, made), { recursive: true, force: true });
  }
  run('npm', 'run', 'build');
  mkdirSync(folder, { recursive: true });
  run('npm', 'pack', '--pack-destination', folder, '--workspaces', '--include-workspace-root');
  const hashOf = (name) =>
    createHash('sha512')
      .update(readFileSync(join(folder, name)))
      .digest('base64');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, hashOf(name)]));
}

const changes = run('git', 'status', '--porcelain');
if (changes !== '') {
  console.error(`expected a clean checkout, got changes:\n${changes}`);
  process.exit(1);
}
const first = pack();
run('npm', 'run', 'size');
run('npm', 'run', 'check:package');
const second = pack();
for (const [name, hash] of Object.entries(second)) {
  console.log(`${name}: sha512-${hash}`);
  if (first[name] === hash) continue;
  console.error(`${name}: expected the bytes of the first build, sha512-${first[name]}`);
  process.exitCode = 1;
}
