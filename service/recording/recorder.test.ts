/** What a recorder does when the disk is full, when it is ended, and when it is started again. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { SmallDisk } from './small-disk.fixture.ts';

// Thousands of writes take a busy machine some seconds.
jest.setTimeout(60_000);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leo-abr-recorder-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function recorder(options: Partial<RecorderOptions> = {}) {
  const clock = options.clock ?? new ManualClock();
  const problems = new Problems(clock);
  const made = new Recorder({ directory, maxBytes: 1e9, maxAgeDays: 30, clock, problems, ...options });
  await made.open();
  return { made, clock: clock as ManualClock, problems };
}

/** So many seconds of downloading, from second `from` of the clock's start. */
function download(made: Recorder, startMs: number, { from, to }: { from: number; to: number }): void {
  for (let second = from; second < to; second++) {
    const observation = { kind: 'throughput', startSeconds: second, endSeconds: second + 1, bits: 4e7 } as const;
    made.observation(observation, (seconds) => startMs + seconds * 1000);
  }
}

/** Those that are whole. */
function lines(): Record<string, unknown>[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line));
}

describe('a full disk', () => {
  test('costs a trace that begins on it neither its rows nor its sidecar', async () => {
    const disk = new SmallDisk();
    const { made, clock, problems } = await recorder({ files: disk, place: () => '48.1, 11.6' });
    const startMs = clock.utcMs();
    download(made, startMs, { from: 0, to: 20 });
    await made.flush();
    expect(problems.list()).toMatchObject([{ code: 'failed', message: 'the disk is full; lines wait to be written' }]);
    expect(readdirSync(directory)).toEqual(['recording.lock']);
    disk.room = 1e6;
    clock.advance(6);
    await made.flush();
    expect(problems.list()).toEqual([]);
    await made.close();
    expect(readTraces([directory])).toMatchObject([
      { durationSeconds: 19, metadata: { dataset: 'recorded', location: '48.1, 11.6', startUtcMs: startMs } },
    ]);
  });

  test('costs no file that is ended meanwhile', async () => {
    const disk = new SmallDisk({ room: 30 });
    const { made, clock } = await recorder({ files: disk });
    const startMs = clock.utcMs();
    // Leaps of the clock end traces; after hours the records are ended too.
    for (let n = 0; n < 4; n++) {
      download(made, startMs, { from: n * 100, to: n * 100 + 11 });
      made.event('trigger', { n });
      made.onLeap();
      await made.flush();
      clock.advance(7 * 3600);
    }
    expect(made.status().waiting).toBeGreaterThan(40);
    disk.room = 1e6;
    // One of them fails even so.
    let syncs = 0;
    disk.sync = () => (++syncs === 10 ? Promise.reject(new Error('EIO')) : Promise.resolve());
    for (let n = 0; n < 8; n++) {
      clock.advance(6);
      await made.flush();
    }
    expect(syncs).toBeGreaterThan(10);
    expect(made.status()).toMatchObject({ waiting: 0, lines: 4 + 4 * 11 });
    await made.close();
    expect(disk.opened).toBe(0);
    expect(lines().map(({ data }) => data)).toEqual([0, 1, 2, 3].map((n) => ({ n })));
    expect(readTraces([directory]).map(({ durationSeconds }) => durationSeconds)).toEqual([10, 10, 10, 10]);
  });

  test('that stays full to the end: what is lost is said', async () => {
    const disk = new SmallDisk({ room: 150 });
    const { made, clock } = await recorder({ files: disk });
    for (let n = 0; n < 3; n++) made.report({ player: 'p', observations: [] });
    made.event('forecast', {});
    download(made, clock.utcMs(), { from: 0, to: 5 });
    await made.flush();
    await expect(made.close()).rejects.toThrow(
      'recording: 7 lines are lost (1 forecast, 5 trace, 1 report): the disk is full',
    );
    expect(disk.opened).toBe(0);
  });

  test('gives up old recordings for the lines that wait at the end', async () => {
    writeFileSync(join(directory, 'records-20251225T000000Z_1.jsonl'), 'x\n'.repeat(500));
    const disk = new SmallDisk();
    const { made } = await recorder({ files: disk });
    made.event('trigger', { n: 1 });
    await made.flush();
    await made.close();
    expect(lines()).toMatchObject([{ data: { n: 1 } }]);
  });

  test('that has no room for one whole file: the newest lines stay, and the trace', async () => {
    const disk = new SmallDisk({ room: 80_000 });
    const onNotice = jest.fn();
    const { made, clock } = await recorder({ files: disk, maxBytes: 800_000, onNotice });
    download(made, clock.utcMs(), { from: 0, to: 11 });
    for (let n = 0; n < 2000; n++) {
      made.event('trigger', { n, much: 'x'.repeat(450) });
      clock.advance(1);
      await made.flush();
    }
    // Older lines are deleted as recordings, before any that waits is lost.
    expect(made.status()).toMatchObject({ lost: 0 });
    expect(made.status().deletedFiles).toBeGreaterThan(5);
    await expect(made.close()).rejects.toThrow('the disk is full');
    const kept = lines().map(({ data }) => (data as { n: number }).n);
    expect(kept.slice(-120)).toEqual(Array.from({ length: 120 }, (_, i) => 1880 + i));
    expect(readTraces([directory])).toMatchObject([{ durationSeconds: 10 }]);
    for (const [message] of onNotice.mock.calls) expect(message).toContain('records-');
    expect(disk.opened).toBe(0);
  });

  test('at the end: a long recording is not given up for a few lines', async () => {
    const disk = new SmallDisk({ room: 8000 });
    const { made, clock } = await recorder({ files: disk });
    download(made, clock.utcMs(), { from: 0, to: 11 });
    await made.flush();
    for (let n = 0; made.status().waiting < 5; n++) {
      made.event('trigger', { n });
      await made.flush();
    }
    const { lines: written } = made.status();
    await expect(made.close()).rejects.toThrow('5 lines are lost (5 trigger): the disk is full');
    expect(lines()).toHaveLength(written - 11);
    expect(readTraces([directory])).toMatchObject([{ durationSeconds: 10 }]);
    expect(made.status().deletedFiles).toBe(0);
  });

  test('for too long: the oldest lines are lost, which is a problem until it is over', async () => {
    const disk = new SmallDisk();
    const { made, clock, problems } = await recorder({ files: disk, maxBytes: 20_000 });
    for (let n = 0; n < 500; n++) {
      made.event('trigger', { n });
      clock.advance(1);
      await made.flush();
    }
    const { lost, waiting } = made.status();
    expect(lost + waiting).toBe(500);
    expect(waiting).toBeGreaterThan(100);
    expect(problems.list()).toContainEqual(
      expect.objectContaining({ code: 'lost', message: `${lost} lines are lost (${lost} trigger): the disk is full` }),
    );
    disk.room = 1e6;
    for (let second = 0; second < 700; second += 10) {
      clock.advance(10);
      await made.flush();
    }
    expect(problems.list()).toEqual([]);
    await expect(made.close()).rejects.toThrow(`${lost} lines are lost`);
    const kept = lines().map(({ data }) => (data as { n: number }).n);
    expect(kept).toEqual(Array.from({ length: waiting }, (_, i) => 500 - waiting + i));
  });
});

describe('a recorder that is started again', () => {
  /** The dish's last 900 s as it tells them at the start of a service, and the newest second. */
  function tell(made: Recorder, endMs: number, phaseMs = 0): void {
    for (let ago = 899; ago >= 0; ago--) {
      const number = Math.round(endMs / 1000) - ago;
      const second: TelemetrySecond = { atMs: number * 1000 + phaseMs, latencyMs: 20 + ((number * 7919) % 1009) / 100 };
      made.telemetry(ago === 0 ? second : { ...second, fromHistory: true });
    }
  }

  test('records of the history of the dish only what it does not have yet', async () => {
    const clock = new ManualClock();
    for (let start = 0; start < 10; start++) {
      const { made } = await recorder({ clock });
      // When its seconds end is learnt anew each time.
      tell(made, clock.utcMs(), (start % 3) * 400);
      await made.flush();
      await made.close();
      clock.advance(7);
    }
    const seconds = lines().map(({ atMs }) => Math.floor((atMs as number) / 1000));
    // The newest second of each start counts as live.
    expect(seconds).toHaveLength(900 + 9 * 7);
    expect(new Set(seconds).size).toBe(900 + 9 * 7);
  });

  test('records all of the history that it does not have', async () => {
    const clock = new ManualClock();
    const first = await recorder({ clock });
    tell(first.made, clock.utcMs());
    await first.made.close();
    clock.advance(600);
    const second = await recorder({ clock });
    tell(second.made, clock.utcMs());
    await second.made.close();
    clock.leap(-86_400);
    const third = await recorder({ clock });
    tell(third.made, clock.utcMs());
    await third.made.close();
    expect(lines()).toHaveLength(900 + 600 + 900);
  });

  test('on a full disk, waits for room', async () => {
    const disk = new SmallDisk();
    const { made, clock } = await recorder({ files: disk });
    made.event('trigger', { n: 1 });
    await made.flush();
    disk.room = 1e6;
    clock.advance(6);
    await made.close();
    expect(lines()).toMatchObject([{ data: { n: 1 } }]);
  });

  test('does not record where another one does', async () => {
    const first = await recorder();
    await expect(recorder()).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringContaining(
        `expected a folder that no other service records in, got "process ${process.pid}`,
      ),
    });
    first.made.event('trigger', { n: 1 });
    await first.made.close();
    const second = await recorder();
    second.made.event('trigger', { n: 2 });
    await second.made.close();
    expect(lines()).toHaveLength(2);
  });

  test('refuses a folder that cannot be made', async () => {
    writeFileSync(join(directory, 'file'), '');
    await expect(recorder({ directory: join(directory, 'file', 'below') })).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringContaining('expected a folder that can be written to, got "ENOTDIR'),
    });
  });
});

test('lines are with the operating system as soon as that is said', async () => {
  const { made } = await recorder();
  for (let n = 0; n < 50; n++) {
    made.report({ player: `p${n}`, observations: [] });
    // Many ask at once.
    await Promise.all([made.written(), made.written()]);
    expect(lines()).toHaveLength(n + 1);
  }
  await made.close();
});

test('whoever waits for lines is not held up by a full disk', async () => {
  const { made } = await recorder({ files: new SmallDisk() });
  made.report({ player: 'p', observations: [] });
  await made.written();
  expect(made.status().waiting).toBe(1);
  await expect(made.close()).rejects.toThrow('1 line is lost');
});

test('whoever waits for lines is not held up by a disk that hangs', async () => {
  const disk = new SmallDisk({ room: 1e6 });
  let goOn = () => {};
  const hangs = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const open = disk.open.bind(disk);
  disk.open = async (path, flags) => {
    await hangs;
    return open(path, flags);
  };
  const { made } = await recorder({ files: disk });
  made.report({ player: 'p', observations: [] });
  await made.written();
  expect(made.status().waiting).toBe(1);
  goOn();
  await made.close();
  expect(lines()).toHaveLength(1);
});
