/**
 * Ensures that one process at a time records in a folder, by a lock file that names it. After a crash, the next one
 * takes the folder over: at once if it sees that the process is gone, else when the file is a minute old.
 */

import { readFile, readlink, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

const LOCK_FILE = 'recording.lock';
/** A lock touched within this time is alive. */
const FRESH_MS = 60_000;

export interface FolderLock {
  /** Call it every few seconds: it shows other hosts and containers that the owner is alive. */
  touch(): Promise<void>;
  release(): Promise<void>;
}

/** Throws an `InputError` if another live process records in the folder. */
export async function lockFolder(directory: string): Promise<FolderLock> {
  const path = join(directory, LOCK_FILE);
  // Containers of one host do not share process ids, nor do two boots.
  const host = `${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => process.platform)}`;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  while (!(await create(path, JSON.stringify({ pid: process.pid, host, boot })))) {
    const text = await readFile(path, 'utf8').catch(ifMissing);
    if (text === undefined) continue;
    const [, pid, ofHost, ofBoot] = /^{"pid":(\d+),"host":"(.*)","boot":"(.*)"}$/.exec(text) ?? [];
    const isGone = ofHost === host && (ofBoot !== JSON.stringify(boot).slice(1, -1) || !isRunning(Number(pid)));
    if (!isGone && (await ageMs(path)) < FRESH_MS) {
      const owner = pid === undefined ? 'another one' : `process ${pid} on ${ofHost?.split(' ')[0]}`;
      throw new InputError(directory, 'a folder that no other service records in', `${owner}, by its ${LOCK_FILE}`);
    }
    await discard(path, text);
  }
  return { touch: () => utimes(path, new Date(), new Date()), release: () => unlink(path) };
}

/** False if the file exists. */
async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A full disk leaves an empty file.
    await unlink(path).catch(ifMissing);
    throw error;
  }
}

/** Removes a stale lock, unless it was replaced meanwhile. A second file excludes concurrent removals. */
async function discard(path: string, text: string): Promise<void> {
  const removal = `${path}.removal`;
  if (await create(removal, '')) {
    if ((await readFile(path, 'utf8').catch(ifMissing)) === text) await unlink(path);
    await unlink(removal);
  } else if ((await ageMs(removal)) > FRESH_MS) await unlink(removal).catch(ifMissing);
}

/** NaN if the file does not exist. */
async function ageMs(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return Math.abs(Date.now() - mtimeMs);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
