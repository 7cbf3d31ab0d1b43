/**
 * Ensures that one service at a time records in a folder, by a lock file that names its process. After a crash, the
 * next service finds that the process is gone and takes the folder over.
 */

import { open, readFile, readlink, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

const LOCK_FILE = 'recording.lock';
/** A lock touched within this time is alive. */
const FRESH_MS = 60_000;

interface Owner {
  pid: number;
  /** Start of the process, because its id may be reused; null if the system does not reveal it. */
  started: string | null;
  /** Host and container, the scope of the process id. */
  host: string;
}

export interface FolderLock {
  /** Call it every few seconds: it shows other hosts and containers that the owner is alive. */
  touch(): Promise<void>;
  release(): Promise<void>;
}

/** Throws an `InputError` if another live service records in the folder. */
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
  // The process is on another host or in another container, or its id may have been reused.
  return (await ageMs(path)) < FRESH_MS;
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

function taken(directory: string, text: string): InputError {
  const owner = parsed(text);
  const who = owner === undefined ? 'another one' : `process ${owner.pid} on ${owner.host.split(' ')[0]}`;
  return new InputError(directory, 'a folder that no other service records in', `${who}, by its ${LOCK_FILE}`);
}

/** Undefined if a crash or a full disk has truncated the text. */
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

/** Hostname and namespace of process ids, which containers of one host do not share. */
async function hostOf(): Promise<string> {
  return `${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => process.platform)}`;
}

/** Boot id and start time of the process; null if the system does not reveal it or the process has ended. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)!.split(' ');
    // Z: a zombie, which has ended.
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
