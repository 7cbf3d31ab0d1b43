/**
 * Ensures that one process at a time records in a folder, by a lock file that names it. After a crash, the next one
 * takes the folder over: at once if it sees that the process is gone, else when the file is a minute old.
 */

import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';

const LOCK_FILE = 'recording.lock';
/** A lock touched within this time is alive. */
const FRESH_MS = 60_000;
/** Locks of this process. Others with its id, as in a container that restarts, are of earlier ones. */
const held = new Set<string>();

export interface FolderLock {
  /** Call it every few seconds: it shows other hosts and containers that the owner is alive. */
  touch(): Promise<void>;
  release(): Promise<void>;
}

/** Throws an `InputError` if another live process records in the folder. */
export async function lockFolder(directory: string): Promise<FolderLock> {
  const path = join(directory, LOCK_FILE);
  while (!(await create(path))) {
    const text = await readFile(path, 'utf8').catch(ifMissing);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
    if (text === undefined) continue;
    const [host = '', pid = ''] = text.split(' ');
    const isGone = host === hostname() && (Number(pid) === process.pid ? !held.has(path) : !isRunning(Number(pid)));
    if (!isGone && Math.abs(Date.now() - mtimeMs) < FRESH_MS) {
      const owner = pid === '' ? 'another one' : `process ${pid} on ${host}`;
      throw new InputError(directory, 'a folder that no other service records in', `${owner}, by its ${LOCK_FILE}`);
    }
    await unlink(path).catch(ifMissing);
  }
  held.add(path);
  return {
    touch: () => utimes(path, new Date(), new Date()),
    release() {
      held.delete(path);
      return unlink(path);
    },
  };
}

/** False if the file exists. */
async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${hostname()} ${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A full disk leaves an empty file.
    await unlink(path).catch(ifMissing);
    throw error;
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

export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
