import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { SmallDisk } from './small-disk.fixture.ts';

// Thousands of writes take seconds on a busy machine.
jest.setTimeout(60_000);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leo-abr-folder-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const DAY_SECONDS = 86_400;

function recorder(options: Partial<RecorderOptions> = {}) {
  const clock = options.clock ?? new ManualClock();
  const problems = new Problems(clock);
  const notices: string[] = [];
  const onNotice = (notice: string) => notices.push(notice);
  const made = new Recorder({ directory, maxBytes: 1e9, clock, problems, onNotice, ...options });
  return { made, problems, notices };
}

/** Creates a file that is `days` old. */
function old(name: string, clock: ManualClock, { days, bytes = 100 }: { days: number; bytes?: number }): string {
  const beganMs = clock.utcMs() - days * DAY_SECONDS * 1000;
  const stamp = new Date(beganMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const file = name.replace('<UTC>', stamp);
  writeFileSync(join(directory, file), `${'x'.repeat(bytes - 1)}\n`);
  utimesSync(join(directory, file), beganMs / 1000, beganMs / 1000);
  return file;
}

const recordings = () =>
  readdirSync(directory)
    .filter((name) => name !== 'recording.lock')
    .sort();

/** The numbers in all records, oldest file first. */
function numbers(): number[] {
  return recordings()
    .filter((name) => name.endsWith('.jsonl'))
    .sort((a, b) => Number(/_(\d+)/.exec(a)![1]) - Number(/_(\d+)/.exec(b)![1]))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { data: { n: number } }).data.n);
}

const bytesInFolder = () => recordings().reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

describe('the size limit', () => {
  test('holds at all times and keeps the newest lines', async () => {
    const clock = new ManualClock();
    const maxBytes = 200_000;
    const { made, problems, notices } = recorder({ clock, maxBytes });
    await made.open();
    for (let n = 0; n < 2000; n++) {
      made.record('trigger', { data: { n, text: 'x'.repeat(900) } });
      if (n % 10 === 0) {
        clock.advance(1);
        await made.flush();
        expect(bytesInFolder()).toBeLessThanOrEqual(maxBytes * (1 + 1 / 8));
      }
    }
    await made.close();
    expect(bytesInFolder()).toBeGreaterThan(maxBytes / 2);
    const kept = numbers();
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 2000 - kept.length + i));
    expect(notices.length).toBeGreaterThan(10);
    expect(notices[0]).toMatch(/^recordings: deleted file records-\S+_1\.jsonl: more than 0\.2 MB$/);
    expect(problems.list()).toEqual([]);
  });

  test('deletes in order of creation, even if the clock was ahead', async () => {
    const clock = new ManualClock();
    clock.leap(40 * DAY_SECONDS);
    const ahead = recorder({ clock, maxBytes: 100_000 });
    await ahead.made.open();
    for (let n = 0; n < 60; n++) ahead.made.record('trigger', { data: { n, text: 'x'.repeat(900) } });
    await ahead.made.close();
    clock.leap(-40 * DAY_SECONDS);
    const right = recorder({ clock, maxBytes: 100_000 });
    await right.made.open();
    for (let n = 60; n < 120; n++) {
      right.made.record('trigger', { data: { n, text: 'x'.repeat(900) } });
      await right.made.flush();
    }
    await right.made.close();
    const kept = numbers();
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 120 - kept.length + i));
  });

  test('counts the disk usage of small files', async () => {
    const clock = new ManualClock();
    for (let hour = 100; hour > 0; hour--) old(`records-<UTC>_${101 - hour}.jsonl`, clock, { days: hour / 24 });
    writeFileSync(join(directory, 'diary.txt'), 'x');
    const { made } = recorder({ clock, maxBytes: 4096 * 50 });
    await made.open();
    expect(recordings()).toHaveLength(50 + 1);
    expect(made.status().deletedFiles).toBe(50);
    await made.close();
  });

  test('is reported as exceeded if files cannot be deleted, and recording continues', async () => {
    const clock = new ManualClock();
    const disk = new SmallDisk({ room: 1e9 });
    disk.unlink = () => Promise.reject(Object.assign(new Error('EPERM: not allowed'), { code: 'EPERM' }));
    const { made, problems } = recorder({ clock, maxBytes: 50_000, files: disk });
    await made.open();
    for (let n = 0; n < 100; n++) {
      made.record('trigger', { data: { n, text: 'x'.repeat(900) } });
      await made.flush();
    }
    expect(problems.list()).toMatchObject([
      { code: 'over-limit', message: 'old recordings cannot be deleted: EPERM: not allowed' },
    ]);
    await made.close();
    expect(numbers()).toHaveLength(100);
  });
});
