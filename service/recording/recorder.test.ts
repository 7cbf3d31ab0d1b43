import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { SmallDisk } from './small-disk.fixture.ts';

const at = temporaryFolder('test');
let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

async function recorder(options: Partial<RecorderOptions> = {}) {
  const problems = new Problems(clock);
  const made = new Recorder({ directory: at(), maxBytes: 1e9, clock, problems, ...options });
  await made.open();
  const trigger = (n: number, bytes = 1) => made.record('trigger', { data: { n, text: 'x'.repeat(bytes) } });
  /** Records triggers of 900 bytes one by one. */
  const write = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      trigger(n, 900);
      await made.flush();
    }
  };
  return { made, problems, trigger, write };
}

/** Observes seconds `from` to `to` after `startMs` in pieces of 0.1 s. Without `bits` per piece, players are idle. */
function observe(made: Recorder, startMs: number, { from, to, bits }: { from: number; to: number; bits?: number }) {
  for (let tenth = from * 10; tenth < to * 10; tenth++) {
    const when = { startSeconds: tenth / 10, endSeconds: (tenth + 1) / 10 };
    const observation = bits === undefined ? { kind: 'idle' as const } : { kind: 'throughput' as const, bits };
    made.observation({ ...observation, ...when }, (seconds) => startMs + seconds * 1000);
  }
}

/** The complete lines of all records, oldest file first. */
function lines(): Record<string, unknown>[] {
  return readdirSync(at())
    .filter((name) => name.endsWith('.jsonl'))
    .sort((a, b) => Number(/_(\d+)/.exec(a)![1]) - Number(/_(\d+)/.exec(b)![1]))
    .flatMap((name) => readFileSync(at(name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line));
}

/** The numbers of the recorded triggers. */
const numbers = () => lines().map(({ data }) => (data as { n: number }).n);
/** Returns `count` successive numbers. The last number is `end - 1`. */
const newest = (count: number, end: number) => Array.from({ length: count }, (_, i) => end - count + i);

test('a recording contains all records as lines of JSON', async () => {
  const { made } = await recorder();
  made.telemetry({ atMs: clock.utcMs(), latencyMs: 30, dropRate: 0 });
  made.record('report', { player: 'p', observations: [] });
  made.record('trigger', { data: { name: 'latency' } });
  await made.flush();
  expect(made.status()).toMatchObject({ lines: 3, waiting: 0 });
  await made.close();
  expect(lines()).toEqual([
    { kind: 'telemetry', atMs: clock.utcMs(), latencyMs: 30, dropRate: 0 },
    { kind: 'report', atMs: clock.utcMs(), player: 'p', observations: [] },
    { kind: 'trigger', atMs: clock.utcMs(), data: { name: 'latency' } },
  ]);
});

// cli/record/record.test.ts reads rates, pings and places.
test('a recording has a trace per download, from the first busy second on, and none of idle players', async () => {
  const { made } = await recorder();
  const zeroMs = clock.utcMs();
  observe(made, zeroMs, { from: 3, to: 30 });
  await made.flush();
  expect(readdirSync(at())).toEqual([]);
  observe(made, zeroMs, { from: 30, to: 70, bits: 4e6 });
  observe(made, zeroMs, { from: 70, to: 80 });
  observe(made, zeroMs, { from: 80, to: 90, bits: 4e6 });
  await made.close();
  const [first, second] = readTraces([at()]);
  expect(first).toMatchObject({ durationSeconds: 40, metadata: { startUtcMs: zeroMs + 30_000 } });
  expect([...first!.ratesBps].every((rate) => Math.abs(rate - 40e6) < 1e5)).toBe(true);
  expect(second!.durationSeconds).toBe(10);
});

test.each([/csv$/, /csv$|json$/])('after %s are moved away, a trace goes on in time', async (moved) => {
  const { made } = await recorder();
  const zeroMs = clock.utcMs();
  const seconds = async (from: number, to: number, bits?: number) => {
    observe(made, zeroMs, { from, to, ...(bits && { bits }) });
    await made.flush();
  };
  const move = () => {
    for (const name of readdirSync(at())) if (moved.test(name)) unlinkSync(at(name));
  };
  const expectTrace = (startSeconds: number, durationSeconds: number) =>
    expect(readTraces([at()])).toMatchObject([
      { durationSeconds, metadata: { startUtcMs: zeroMs + startSeconds * 1000 } },
    ]);
  await seconds(0, 21, 4e6);
  move();
  await seconds(21, 22, 4e6);
  expectTrace(20, 1);
  await seconds(22, 24);
  expectTrace(20, 2);
  move();
  // A row that begins a gap is no trace.
  await seconds(24, 25);
  expect(readdirSync(at()).filter((name) => name.endsWith('csv'))).toEqual([]);
  await seconds(30, 50, 4e6);
  await made.close();
  expectTrace(30, 20);
});

test('a folder that is gone is reported without its path, which not everybody in the network may know', async () => {
  const { made, problems, trigger } = await recorder();
  trigger(1);
  rmSync(at(), { recursive: true });
  await made.flush();
  expect(problems.list().map(({ code, message }) => [code, message])).toEqual([
    ['over-limit', `old recordings cannot be deleted: ENOENT: no such file or directory, scandir '${basename(at())}'`],
    ['failed', expect.stringMatching(/^ENOENT: no such file or directory, open 'records-\w+\.jsonl'; lines wait/)],
  ]);
  mkdirSync(at());
  await made.close();
  expect(numbers()).toEqual([1]);
});

test('a full disk loses no file that begins or is finished meanwhile, nor the sidecar of a trace', async () => {
  const disk = new SmallDisk(30);
  const { made, problems, trigger } = await recorder({ files: disk });
  const startMs = clock.utcMs();
  // Each leap finishes the trace, and after 7 hours the records are rotated.
  for (let n = 0; n < 4; n++) {
    observe(made, startMs, { from: n * 100, to: n * 100 + 10, bits: 4e6 });
    trigger(n);
    made.onLeap();
    await made.flush();
    clock.advance(7 * 3600);
  }
  const message = 'ENOSPC: no space left; lines wait to be written';
  expect(problems.list()).toMatchObject([{ code: 'failed', message }]);
  expect(readdirSync(at()).filter((name) => name.endsWith('.csv'))).toEqual([]);
  expect(made.status().waiting).toBeGreaterThan(40);
  disk.room = 1e6;
  await made.flush();
  expect(problems.list()).toEqual([]);
  expect(made.status()).toMatchObject({ waiting: 0, lines: 4 + 4 * 12 });
  await made.close();
  expect(numbers()).toEqual([0, 1, 2, 3]);
  expect(readTraces([at()]).map(({ durationSeconds }) => durationSeconds)).toEqual([10, 10, 10, 10]);
});

test('a full disk loses the newest lines if it lasts too long, and reports that', async () => {
  const disk = new SmallDisk();
  const { made, problems, trigger } = await recorder({ files: disk, maxBytes: 40_000 });
  for (let n = 0; n < 500; n++) {
    trigger(n);
    clock.advance(1);
    await made.flush();
  }
  const { lost, waiting } = made.status();
  expect(lost + waiting).toBe(500);
  expect(waiting).toBeGreaterThan(100);
  const message = `${lost} lines are lost`;
  expect(problems.list()).toContainEqual(expect.objectContaining({ code: 'lost', message }));
  disk.room = 1e6;
  await made.flush();
  expect(problems.list()).toMatchObject([{ code: 'lost' }]);
  trigger(500);
  await expect(made.close()).rejects.toThrow(`recording: ${lost} lines are lost`);
  expect(numbers()).toEqual([...newest(waiting, waiting), 500]);
});

test("a restarted recorder records only new seconds of the dish's history, unless the clock was set back", async () => {
  const start = async () => {
    const { made } = await recorder();
    for (let ago = 900; ago > 0; ago--) made.telemetry({ atMs: clock.utcMs() - ago * 1000, fromHistory: true });
    await made.close();
    const seconds = clock.utcMs() / 1000;
    for (const name of readdirSync(at())) utimesSync(at(name), seconds, seconds);
    return lines().length;
  };
  expect(await start()).toBe(900);
  clock.advance(7);
  expect(await start()).toBe(900 + 6);
  clock.leap(-86_400);
  expect(await start()).toBe(900 + 6 + 900);
});

test('a restarted recorder repairs files after a crash and begins a new one', async () => {
  for (const n of [1, 2]) {
    const { made, trigger } = await recorder();
    trigger(n);
    await made.close();
    if (n === 1) appendFileSync(at(readdirSync(at())[0]!), '{"kind":"tri');
  }
  expect(numbers()).toEqual([1, 2]);
});

const bytesInFolder = () => readdirSync(at()).reduce((sum, name) => sum + statSync(at(name)).size, 0);

test('the size limit holds at all times and keeps the newest lines', async () => {
  const maxBytes = 200_000;
  const { made, problems, trigger } = await recorder({ maxBytes });
  for (let n = 0; n < 2000; n++) {
    trigger(n, 900);
    // Most lines come one by one, but some come at once.
    if (n % 10 !== 0 || n % 500 > 400) continue;
    clock.advance(1);
    await made.flush();
    expect(bytesInFolder()).toBeLessThanOrEqual(maxBytes);
  }
  await made.close();
  expect(bytesInFolder()).toBeGreaterThan(maxBytes / 2);
  const kept = numbers();
  expect(kept).toEqual(newest(kept.length, 2000));
  expect(made.status().deletedFiles).toBeGreaterThan(10);
  expect(problems.list()).toEqual([]);
});

test('the size limit deletes in order of creation, even if the clock was ahead', async () => {
  for (const [i, leapDays] of [40, -40].entries()) {
    clock.leap(leapDays * 86_400);
    const { made, write } = await recorder({ maxBytes: 100_000 });
    await write(60 * i, 60 * (i + 1));
    await made.close();
  }
  const kept = numbers();
  expect(kept.length).toBeGreaterThan(60);
  expect(kept).toEqual(newest(kept.length, 120));
});

test('the size limit leaves space for open files, and what is no recording', async () => {
  for (let n = 1; n <= 100; n++) writeFileSync(at(`records-20260101T000000Z_${n}.jsonl`), `${'x'.repeat(99)}\n`);
  writeFileSync(at('diary.txt'), 'x');
  const { made } = await recorder({ maxBytes: 100 * 48 });
  expect(readdirSync(at())).toHaveLength(36 + 1);
  expect(made.status().deletedFiles).toBe(64);
  await made.close();
});
