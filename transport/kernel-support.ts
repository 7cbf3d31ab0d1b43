/** Checks whether this machine can run the kernel tier, and compiles the link emulator. Linux only. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../replay/formats/write-file.ts';

/** The values of `--congestion` for TCP. */
export const CONGESTION_CONTROLS = ['cubic', 'bbr'] as const;
export type CongestionControl = (typeof CONGESTION_CONTROLS)[number];

const ALLOWED_FILE = '/proc/sys/net/ipv4/tcp_allowed_congestion_control';
const AVAILABLE_FILE = '/proc/sys/net/ipv4/tcp_available_congestion_control';

/** The folder with `Cargo.toml` and `src/`: this file's in the checkout, else the copy beside the built command. */
export const SOURCE_FOLDER = ['.', 'transport']
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
  if (spawnSync('nsenter', ['--net=/proc/self/ns/net', 'true'], { stdio: 'ignore' }).status !== 0) {
    return 'it needs the right to enter network namespaces';
  }
  return undefined;
}

/** The first program that is not installed, for the user; undefined if all are. */
export function missingProgram(names: readonly string[]): string | undefined {
  const missing = names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0);
  return missing && `it needs ${missing}`;
}

/**
 * Allows a congestion control in namespaces by adding it to the machine's list, where it stays. Returns why this is not
 * possible, or undefined.
 */
export function allowCongestionControl(name: CongestionControl): string | undefined {
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

/** For compiled programs; this creates it. */
export function cacheFolder(): string {
  const folder = join(tmpdir(), `leo-abr-${process.getuid?.() ?? 0}`);
  makeFolder(folder);
  return folder;
}

/**
 * The emulator's path; compiled at first use and cached by the hash of its source. @throws {Error} with cc's output.
 */
export function linkEmulator(): string {
  const sources = ['link-emulator.c', 'link.c', 'link.h'].map((name) => join(SOURCE_FOLDER, 'src', name));
  const hash = createHash('sha256');
  for (const file of sources) hash.update(readFileSync(file));
  const program = join(cacheFolder(), `link-emulator-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  const temporary = `${program}.${process.pid}`;
  const { status, stderr, error } = spawnSync('cc', ['-O2', '-o', temporary, ...sources.slice(0, 2)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`cc could not build ${sources[0]}: ${error?.message ?? stderr}`);
  renameSync(temporary, program);
  return program;
}
