/** Builds the Rust program at first use, and checks whether this machine can run the tier `quic`. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { InputError } from '../abr/errors.ts';
import { cacheFolder, kernelTierObstacle, missingProgram, SOURCE_FOLDER } from './kernel-support.ts';

/** Why this machine cannot build the program, for the user; undefined if it can. */
export function transportObstacle(): string | undefined {
  return missingProgram(['cargo', 'clang', 'cmake', 'patch', 'tar']);
}

/** The same for the tier `quic`. */
export function quicTierObstacle(): string | undefined {
  return kernelTierObstacle() ?? transportObstacle() ?? missingProgram(['chrt']);
}

/**
 * Returns the name of a congestion control of HTTP/3: `cubic`, `reno`, `bbr2`, or `bbr2:` with `probe-rtt=<ms>` or
 * `loss=<share>`, or both. @throws {InputError} of `field`
 */
export function quicCongestion(text: string, field = '--congestion'): string {
  const setting = 'probe-rtt=[1-9]\\d*|loss=0?\\.\\d+';
  if (new RegExp(`^(cubic|reno|bbr2(:(${setting})(,(${setting}))?)?)$`).test(text)) return text;
  throw new InputError(field, 'cubic, reno, bbr2 or bbr2:probe-rtt=<ms>,loss=<share>', text);
}

/**
 * The program's path; built with the patched quiche and cached by the hash of its sources. The first build downloads
 * crates and takes minutes. @throws {Error} if a step fails; cargo's messages go to standard error.
 */
export function transportProgram(): string {
  const files = (readdirSync(SOURCE_FOLDER, { recursive: true }) as string[]).filter((name) =>
    /^(src\/.*|build\.rs|Cargo\.toml|Cargo\.lock|quiche\.patch)$/.test(name),
  );
  const hash = createHash('sha256');
  for (const name of files.sort()) hash.update(readFileSync(join(SOURCE_FOLDER, name)));
  const cache = cacheFolder();
  const program = join(cache, `transport-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  const folder = mkdtempSync(`${program}.`);
  try {
    for (const name of files) cpSync(join(SOURCE_FOLDER, name), join(folder, name));
    const target = process.env['CARGO_TARGET_DIR'] ?? join(cache, 'transport-target');
    run('cargo', ['fetch', '--locked'], folder);
    const quiche = patchedQuiche(folder);
    const patch = `patch.crates-io.quiche.path=${JSON.stringify(quiche)}`;
    run('cargo', ['build', '--release', '--offline', '--target-dir', target, '--config', patch], folder);
    renameSync(join(target, 'release', 'leo-abr-transport'), program);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return program;
}

/** Unpacks the crate that `Cargo.lock` names, checks its hash, and patches it. */
function patchedQuiche(folder: string): string {
  const { packages } = JSON.parse(run('cargo', ['metadata', '--locked', '--offline', '--format-version', '1'], folder));
  const source = dirname(packages.find(({ name }: { name: string }) => name === 'quiche').manifest_path);
  const archive = `${source.replace('/registry/src/', '/registry/cache/')}.crate`;
  const lock = readFileSync(join(folder, 'Cargo.lock'), 'utf8');
  const expected = /name = "quiche"\n.*\n.*\nchecksum = "(\w+)"/.exec(lock)?.[1];
  const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (found !== expected) throw new Error(`${archive}: expected SHA-256 ${expected} as in Cargo.lock, got ${found}`);
  run('tar', ['xzf', archive], folder);
  const unpacked = join(folder, basename(source));
  run('patch', ['-p1', '-d', unpacked, '-i', join(folder, 'quiche.patch')], folder);
  return unpacked;
}

/** Returns standard output. */
function run(program: string, args: string[], cwd: string): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed for ${SOURCE_FOLDER}: ${error?.message ?? stdout}`);
  return stdout;
}
