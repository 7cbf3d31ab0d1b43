/** Tests of the recorder with a full disk, at its end and after a restart. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { SmallDisk } from './small-disk.fixture.ts';

// Thousands of writes take seconds on a busy machine.
jest.setTimeout(60_000);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leo-abr-recorder-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function recorder(options: Partial<RecorderOptions> = {}) {
  const clock = options.clock ?? new ManualClock();
  const problems = new Problems(clock);
  const made = new Recorder({ directory, maxBytes: 1e9, clock, problems, ...options });
  await made.open();
  return { made, clock: clock as ManualClock, problems };
}

/** Observes downloads from second `from` to second `to` of the clock. */
function download(made: Recorder, startMs: number, { from, to }: { from: number; to: number }): void {
  for (let second = from; second < to; second++) {
    const observation = { kind: 'throughput', startSeconds: second, endSeconds: second + 1, bits: 4e7 } as const;
    made.observation(observation, (seconds) => startMs + seconds * 1000);
  }
}

/** The complete lines of all records. */
function lines(): Record<string, unknown>[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line));
}

describe('a full disk', () => {
  test('loses neither rows nor sidecar of a trace that begins meanwhile', async () => {
    const disk = new SmallDisk();
    const { made, clock, problems } = await recorder({ files: disk, place: () => '48.1, 11.6' });
    const startMs = clock.utcMs();
    download(made, startMs, { from: 0, to: 20 });
    await made.flush();
    expect(problems.list()).toMatchObject([{ code: 'failed', message: 'the disk is full; lines wait to be written' }]);
    expect(readdirSync(directory).filter((name) => name.endsWith('.csv'))).toEqual([]);
    disk.room = 1e6;
    clock.advance(6);
    await made.flush();
    expect(problems.list()).toEqual([]);
    await made.close();
    expect(readTraces([directory])).toMatchObject([
      { durationSeconds: 19, metadata: { dataset: 'recorded', location: '48.1, 11.6', startUtcMs: startMs } },
    ]);
  });

  test('loses no file that is finished meanwhile', async () => {
    const disk = new SmallDisk({ room: 30 });
    const { made, clock } = await recorder({ files: disk });
    const startMs = clock.utcMs();
    // Each leap finishes the trace, and after 7 hours the records are rotated.
    for (let n = 0; n < 4; n++) {
      download(made, startMs, { from: n * 100, to: n * 100 + 11 });
      made.record('trigger', { data: { n } });
      made.onLeap();
      await made.flush();
      clock.advance(7 * 3600);
    }
    expect(made.status().waiting).toBeGreaterThan(40);
    disk.room = 1e6;
    clock.advance(6);
    await made.flush();
    expect(made.status()).toMatchObject({ waiting: 0, lines: 4 + 4 * 12 });
    await made.close();
    expect(lines().map(({ data }) => data)).toEqual([0, 1, 2, 3].map((n) => ({ n })));
    expect(readTraces([directory]).map(({ durationSeconds }) => durationSeconds)).toEqual([10, 10, 10, 10]);
  });

  test('loses the oldest lines if it lasts too long, and reports that', async () => {
    const disk = new SmallDisk();
    const { made, clock, problems } = await recorder({ files: disk, maxBytes: 20_000 });
    for (let n = 0; n < 500; n++) {
      made.record('trigger', { data: { n } });
      clock.advance(1);
      await made.flush();
    }
    const { lost, waiting } = made.status();
    expect(lost + waiting).toBe(500);
    expect(waiting).toBeGreaterThan(100);
    expect(problems.list()).toContainEqual(
      expect.objectContaining({ code: 'lost', message: `${lost} lines are lost: the disk is full` }),
    );
    disk.room = 1e6;
    await made.flush();
    expect(problems.list()).toMatchObject([{ code: 'lost' }]);
    await expect(made.close()).rejects.toThrow(`${lost} lines are lost`);
    const kept = lines().map(({ data }) => (data as { n: number }).n);
    expect(kept).toEqual(Array.from({ length: waiting }, (_, i) => 500 - waiting + i));
  });
});

describe('a restarted recorder', () => {
  test("records only new seconds of the dish's history, unless the clock was set back", async () => {
    const clock = new ManualClock();
    const start = async () => {
      const { made } = await recorder({ clock });
      for (let ago = 900; ago > 0; ago--) made.telemetry({ atMs: clock.utcMs() - ago * 1000, fromHistory: true });
      await made.close();
      const seconds = clock.utcMs() / 1000;
      for (const name of readdirSync(directory)) utimesSync(join(directory, name), seconds, seconds);
      return lines().length;
    };
    expect(await start()).toBe(900);
    clock.advance(7);
    expect(await start()).toBe(900 + 6);
    clock.leap(-86_400);
    expect(await start()).toBe(900 + 6 + 900);
  });

  test('starts on a full disk and waits for space', async () => {
    const disk = new SmallDisk();
    const { made, clock } = await recorder({ files: disk });
    made.record('trigger', { data: { n: 1 } });
    await made.flush();
    disk.room = 1e6;
    clock.advance(6);
    await made.close();
    expect(lines()).toMatchObject([{ data: { n: 1 } }]);
  });

  test('refuses a folder in which another one records', async () => {
    const first = await recorder();
    await expect(recorder()).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringContaining(
        `expected a folder that no other service records in, got "process ${process.pid}`,
      ),
    });
    first.made.record('trigger', { data: { n: 1 } });
    await first.made.close();
    const second = await recorder();
    second.made.record('trigger', { data: { n: 2 } });
    await second.made.close();
    expect(lines()).toHaveLength(2);
  });

  test('refuses a folder that cannot be created', async () => {
    writeFileSync(join(directory, 'file'), '');
    await expect(recorder({ directory: join(directory, 'file', 'below') })).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringContaining('expected a folder that can be written to, got "ENOTDIR'),
    });
  });
});

test('`written` resolves when the operating system has the lines', async () => {
  const { made } = await recorder();
  for (let n = 0; n < 50; n++) {
    made.record('report', { player: `p${n}`, observations: [] });
    // Concurrent calls.
    await Promise.all([made.written(), made.written()]);
    expect(lines()).toHaveLength(n + 1);
  }
  await made.close();
});

test('`written` is not blocked by a full disk', async () => {
  const { made } = await recorder({ files: new SmallDisk() });
  made.record('report', { player: 'p', observations: [] });
  await made.written();
  expect(made.status().waiting).toBe(1);
  await expect(made.close()).rejects.toThrow('1 line is lost');
});

test('`written` is not blocked by a hanging disk', async () => {
  const disk = new SmallDisk({ room: 1e6 });
  let resume = () => {};
  const hangs = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const { appendFile } = disk;
  disk.appendFile = async (path, data) => {
    await hangs;
    return appendFile(path, data);
  };
  const { made } = await recorder({ files: disk });
  made.record('report', { player: 'p', observations: [] });
  await made.written();
  expect(lines()).toEqual([]);
  resume();
  await made.close();
  expect(lines()).toHaveLength(1);
});
