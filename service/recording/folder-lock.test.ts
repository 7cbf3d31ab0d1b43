import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lockFolder } from './folder-lock.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leo-abr-lock-'));
  path = join(directory, 'recording.lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Whether a lock with this text, touched this long ago, is taken over. */
async function isTakenOver(text: string, ageSeconds = 0): Promise<boolean> {
  writeFileSync(path, text);
  const seconds = Date.now() / 1000 - ageSeconds;
  utimesSync(path, seconds, seconds);
  try {
    const lock = await lockFolder(directory);
    expect(readFileSync(path, 'utf8')).toBe(`${hostname()} ${process.pid}`);
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
    return true;
  } catch (error) {
    expect((error as Error).message).toMatch(/expected a folder that no other service records in, got ".+\.lock"$/);
    return false;
  }
}

test('a lock is exclusive, and the error names its owner', async () => {
  const first = await lockFolder(directory);
  await expect(lockFolder(directory)).rejects.toMatchObject({
    name: 'InputError',
    message: `${directory}: expected a folder that no other service records in, got "process ${process.pid} on ${hostname()}, by its recording.lock"`,
  });
  await first.touch();
  await first.release();
  await (await lockFolder(directory)).release();
});

test('a lock is taken over at once if its process has ended', async () => {
  // Larger than any process id.
  expect(await isTakenOver(`${hostname()} ${2 ** 30}`)).toBe(true);
  // As in a container, whose processes all have the id 1.
  expect(await isTakenOver(`${hostname()} ${process.pid}`)).toBe(true);
});

test.each([
  ['of a running process', `${hostname()} ${process.ppid}`],
  ['of another host or container', `elsewhere ${2 ** 30}`],
  ['without a text, as a full disk leaves it', ''],
])('a lock %s is taken over after a minute without `touch`', async (_, text) => {
  expect(await isTakenOver(text)).toBe(false);
  expect(await isTakenOver(text, 100)).toBe(true);
});
