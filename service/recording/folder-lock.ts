/**
 * One service at a time records in a folder: a file in it names the process that does. The file outlives a crash; the next
 * service finds that its process is gone and takes the folder over.
 */

import { open, readFile, readlink, rename, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

const LOCK_FILE = 'recording.lock';
/** `touch` is called every few seconds. */
const FRESH_MS = 60_000;

interface Owner {
  pid: number;
  /** When the process began, which tells it from a later one with the same id; null on systems that do not say. */
  started: string | null;
  /** Where its id means something: host and container. */
  host: string;
}

export interface FolderLock {
  /** Shows that the owner lives, to those who cannot see its process. */
  touch(): Promise<void>;
  release(): Promise<void>;
}

/** `InputError` if another service that is alive records in the folder. */
export async function lockFolder(directory: string): Promise<FolderLock> {
  const path = join(directory, LOCK_FILE);
  const own = JSON.stringify(await ownerOf(process.pid));
  while (!(await create(path, own))) {
    const text = await readFile(path, 'utf8').catch(ifMissing);
    if (text === undefined) continue;
    if (await isAlive(path, text)) throw taken(directory, text);
    await discard(path, text);
  }
  return {
    touch: () => utimes(path, new Date(), new Date()),
    release: () => unlink(path),
  };
}

/** False if the file exists. */
async function create(path: string, text: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx');
    try {
      await handle.writeFile(text);
      return true;
    } catch (error) {
      await unlink(path);
      throw error;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isAlive(path: string, text: string): Promise<boolean> {
  const owner = parsed(text);
  if (owner?.host === (await hostOf())) {
    if (owner.started !== null) return (await startOf(owner.pid)) === owner.started;
    if (!isRunning(owner.pid)) return false;
  }
  // Another host or container, or a system on which a process may have got the id of one that has ended.
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return Math.abs(Date.now() - mtimeMs) < FRESH_MS;
}

/** Removes a lock whose owner is gone, unless somebody else has taken it over by now. */
async function discard(path: string, text: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(ifMissing);
  const found = await readFile(aside, 'utf8').catch(ifMissing);
  if (found === undefined) return;
  if (found === text) await unlink(aside);
  else await rename(aside, path);
}

function taken(directory: string, text: string): InputError {
  const owner = parsed(text);
  const who = owner === undefined ? 'another one' : `process ${owner.pid} on ${owner.host.split(' ')[0]}`;
  return new InputError(directory, 'a folder that no other service records in', `${who}, by its ${LOCK_FILE}`);
}

/** Undefined for what a crash or a full disk cut short. */
function parsed(text: string): Owner | undefined {
  try {
    const { pid, started, host } = JSON.parse(text) as Owner;
    return Number.isInteger(pid) && typeof host === 'string' ? { pid, started: started ?? null, host } : undefined;
  } catch {
    return undefined;
  }
}

async function ownerOf(pid: number): Promise<Owner> {
  return { pid, started: await startOf(pid), host: await hostOf() };
}

/** Containers of one host have process ids of their own. */
async function hostOf(): Promise<string> {
  return `${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => process.platform)}`;
}

/** Boot of the machine and time since then; null if the system does not say, or the process has ended. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)!.split(' ');
    // A process that was killed stays until its parent looks.
    return fields[0] === 'Z' ? null : `${boot.trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
