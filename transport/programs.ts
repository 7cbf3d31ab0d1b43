/** Whether this machine can run the tiers `kernel` and `quic`, and their programs, which are compiled at first use. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError } from '../abr/errors.ts';

/** The values of `--congestion` for TCP. */
export const CONGESTION_CONTROLS: readonly string[] = ['cubic', 'bbr'];

const ALLOWED_FILE = '/proc/sys/net/ipv4/tcp_allowed_congestion_control';
const AVAILABLE_FILE = '/proc/sys/net/ipv4/tcp_available_congestion_control';

/** The folder with `Cargo.toml` and `src/`: this file's in the checkout, else the copy beside the built command. */
const SOURCE_FOLDER = ['.', 'transport']
  .map((path) => join(dirname(fileURLToPath(import.meta.url)), path))
  .find((path) => existsSync(join(path, 'Cargo.toml')))!;

/** Why this machine cannot run the kernel tier, for the user; undefined if it can. */
export function kernelTierObstacle(): string | undefined {
  if (process.platform !== 'linux') return `it needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'it needs root, for network namespaces and a TUN device';
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
  } catch {
    return 'it needs /dev/net/tun';
  }
  const missing = missingProgram(['cc', 'nsenter']);
  if (missing !== undefined) return missing;
  const entered = spawnSync('nsenter', ['--net=/proc/self/ns/net', 'true'], { stdio: 'ignore' });
  return entered.status === 0 ? undefined : 'it needs the right to enter network namespaces';
}

/** Why this machine cannot build the Rust program. */
export function transportObstacle(): string | undefined {
  return missingProgram(['cargo', 'clang', 'cmake', 'patch']);
}

export function quicTierObstacle(): string | undefined {
  return kernelTierObstacle() ?? transportObstacle() ?? missingProgram(['chrt']);
}

function missingProgram(names: readonly string[]): string | undefined {
  const missing = names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0);
  return missing && `it needs ${missing}`;
}

/** Adds the control to the machine's list, where it stays. Returns why this is not possible, or undefined. */
export function allowCongestionControl(name: string): string | undefined {
  const listIn = (file: string) => readFileSync(file, 'utf8').trim().split(/\s+/);
  const allowed = listIn(ALLOWED_FILE);
  if (allowed.includes(name)) return undefined;
  if (!listIn(AVAILABLE_FILE).includes(name)) return `this kernel has no ${name} (modprobe tcp_${name})`;
  try {
    writeFileSync(ALLOWED_FILE, [...allowed, name].join(' '));
    return undefined;
  } catch (error) {
    return `${ALLOWED_FILE} cannot be written: ${(error as Error).message}`;
  }
}

/** `cubic`, `reno`, `bbr2`, or `bbr2:` with `probe-rtt=<ms>`, `loss=<share>`. @throws {InputError} */
export function quicCongestion(text: string, field = '--congestion'): string {
  const setting = 'probe-rtt=[1-9]\\d*|loss=0?\\.\\d+';
  if (new RegExp(`^(cubic|reno|bbr2(:(${setting})(,(${setting}))?)?)$`).test(text)) return text;
  throw new InputError(field, 'cubic, reno, bbr2 or bbr2:probe-rtt=<ms>,loss=<share>', text);
}

/** The link emulator's path. @throws {Error} with cc's output */
export function linkEmulator(): string {
  const sources = ['src/link-emulator.c', 'src/link.c', 'src/link.h'];
  return built('link-emulator', sources, (folder, program) => {
    run('cc', ['-O2', '-o', program, ...sources.slice(0, 2)], folder);
  });
}

/** The Rust program with the patched quiche. The first build downloads crates and takes minutes. */
export function transportProgram(): string {
  const sources = readdirSync(join(SOURCE_FOLDER, 'src')).map((name) => `src/${name}`);
  sources.push('build.rs', 'Cargo.toml', 'Cargo.lock', 'quiche.patch');
  return built('transport', sources, (folder, program) => {
    run('cargo', ['fetch', '--locked'], folder);
    const { packages } = JSON.parse(run('cargo', ['metadata', '--locked', '--offline', '--format-version=1'], folder));
    const { manifest_path } = packages.find(({ name }: { name: string }) => name === 'quiche');
    const quiche = join(folder, 'quiche');
    cpSync(dirname(manifest_path), quiche, { recursive: true });
    run('patch', ['-p1', '-d', quiche, '-i', join(folder, 'quiche.patch')], folder);
    const target = process.env['CARGO_TARGET_DIR'] ?? join(dirname(program), 'transport-target');
    const patch = `patch.crates-io.quiche.path=${JSON.stringify(quiche)}`;
    run('cargo', ['build', '--release', '--offline', '--target-dir', target, '--config', patch], folder);
    renameSync(join(target, 'release', 'leo-abr-transport'), program);
  });
}

/** Returns a program that `build` makes from a copy of its sources. The temporary folder caches it by their hash. */
function built(name: string, sources: readonly string[], build: (folder: string, program: string) => void): string {
  const cache = join(tmpdir(), `leo-abr-${process.getuid?.() ?? 0}`);
  mkdirSync(cache, { recursive: true });
  // Root must not run what somebody else has put there.
  const { uid } = lstatSync(cache);
  if (uid !== (process.getuid?.() ?? 0)) throw new Error(`${cache} belongs to another user: remove it, or set TMPDIR`);
  const hash = createHash('sha256');
  for (const source of sources) hash.update(readFileSync(join(SOURCE_FOLDER, source)));
  const program = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  const folder = mkdtempSync(`${program}.`);
  try {
    for (const source of sources) cpSync(join(SOURCE_FOLDER, source), join(folder, source));
    build(folder, `${folder}.built`);
    renameSync(`${folder}.built`, program);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return program;
}

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
