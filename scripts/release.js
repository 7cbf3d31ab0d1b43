/** `npm run release`: builds the packages of a release. It publishes nothing. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ROOT } from './command-line.js';

commandLine(`usage: npm run release

From a clean checkout: builds and packs leo-abr and leo-abr-tools twice, each time from nothing, checks sizes and packages
(npm run size, npm run check:package), and writes the two files to build/release/ with their SHA-512. The exit status is
1 if a check finds something, or if the second build has other bytes than the first.`);

const folder = join(ROOT, 'build/release');

function run(program, ...args) {
  const env = { ...process.env, npm_config_ignore_scripts: 'false' };
  const { status, stdout } = spawnSync(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (status === 0) return String(stdout);
  console.error(`${stdout}\n${program} ${args.join(' ')}: expected status 0, got ${status}`);
  process.exit(1);
}

/** Builds and packs everything. Returns SHA-512 by file. */
function pack() {
  for (const made of ['dist', 'cli/dist', 'build/demo', 'build/tsbuild', 'build/release']) {
    rmSync(join(ROOT, made), { recursive: true, force: true });
  }
  run('npm', 'run', 'build');
  mkdirSync(folder, { recursive: true });
  run('npm', 'pack', '--pack-destination', folder, '--workspaces', '--include-workspace-root');
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]);
  const hashes = files.map(([name, bytes]) => [name, createHash('sha512').update(bytes).digest('base64')]);
  return Object.fromEntries(hashes);
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
