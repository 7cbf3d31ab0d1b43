import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lockFolder } from './folder-lock.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leo-abr-lock-'));
  path = join(directory, 'recording.lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Leaves a lock of this process with the given changes, as another process would. */
async function left(change: object, ageSeconds = 0): Promise<void> {
  const lock = await lockFolder(directory);
  const own = JSON.parse(readFileSync(path, 'utf8'));
  await lock.release();
  writeFileSync(path, JSON.stringify({ ...own, ...change }));
  const seconds = Date.now() / 1000 - ageSeconds;
  utimesSync(path, seconds, seconds);
}

async function isTakenOver(): Promise<boolean> {
  try {
    const lock = await lockFolder(directory);
    expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(process.pid);
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
    return true;
  } catch (error) {
    expect((error as Error).message).toMatch(
      /expected a folder that no other service records in, got ".+recording.lock"$/,
    );
    return false;
  }
}

describe('the lock of a folder', () => {
  test('is exclusive, and the error names its owner', async () => {
    const first = await lockFolder(directory);
    await expect(lockFolder(directory)).rejects.toMatchObject({
      name: 'InputError',
      message: `${directory}: expected a folder that no other service records in, got "process ${process.pid} on ${hostname()}, by its recording.lock"`,
    });
    await first.touch();
    await first.release();
    expect(await isTakenOver()).toBe(true);
  });

  test('is taken over if the process has ended', async () => {
    // Larger than any process id.
    await left({ pid: 2 ** 30 });
    expect(await isTakenOver()).toBe(true);
  });

  test('is taken over after a reboot, which may reuse the process id', async () => {
    await left({ boot: 'another boot' });
    expect(await isTakenOver()).toBe(true);
  });

  test.each([
    ['a process id that is in use again', {}],
    ['another host or container', { host: 'elsewhere pid:[1]', pid: 2 ** 30 }],
  ])('of %s is taken over after a minute without `touch`', async (_, change) => {
    await left(change);
    expect(await isTakenOver()).toBe(false);
    await left({}, 0).catch(() => {});
    utimesSync(path, Date.now() / 1000 - 100, Date.now() / 1000 - 100);
    expect(await isTakenOver()).toBe(true);
  });

  test.each(['', '{"pid":', 'null', '[1]'])('truncated to %j is taken over after a minute', async (text) => {
    writeFileSync(path, text);
    expect(await isTakenOver()).toBe(false);
    utimesSync(path, Date.now() / 1000 - 100, Date.now() / 1000 - 100);
    expect(await isTakenOver()).toBe(true);
  });

  test('goes to one of several concurrent processes that find it stale', async () => {
    await left({ pid: 2 ** 30 });
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(directory)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
