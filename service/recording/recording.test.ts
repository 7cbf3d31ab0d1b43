import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { SmallDisk } from './small-disk.fixture.ts';

let folder: string;
let folders = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-recording-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function recorder(options: Partial<RecorderOptions> = {}) {
  const clock = new ManualClock();
  const problems = new Problems(clock);
  const directory = join(folder, String(folders++));
  const made = new Recorder({ directory, maxBytes: 1e9, clock, problems, ...options });
  const read = () =>
    readdirSync(options.directory ?? directory)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) =>
        readFileSync(join(options.directory ?? directory, name), 'utf8')
          .trimEnd()
          .split('\n'),
      )
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { made, clock, problems, directory, read };
}

describe('a recording', () => {
  test('neither loses nor repeats bytes when writes fail', async () => {
    const disk = new SmallDisk();
    const { made, clock, read } = recorder({ files: disk });
    await made.open();
    for (let i = 0; i < 60; i++) {
      made.record('trigger', { data: { i, text: 'x'.repeat(i % 17) } });
      disk.room += i % 3 === 0 ? 0 : (i * 5) % 23;
      clock.advance(6);
      await made.flush();
      expect(made.status()).toMatchObject({ lost: 0 });
    }
    expect(made.status().waiting).toBeGreaterThan(20);
    disk.room = 1e6;
    await made.close();
    expect(made.status()).toMatchObject({ lines: 60, waiting: 0 });
    expect(read().map(({ data }) => (data as { i: number }).i)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test('contains all records as lines of JSON', async () => {
    const { made, clock, read } = recorder();
    await made.open();
    made.telemetry({ atMs: clock.utcMs(), latencyMs: 30, dropRate: 0 });
    made.record('report', { player: 'p', observations: [] });
    made.record('trigger', { data: { name: 'latency' } });
    await made.flush();
    expect(made.status()).toMatchObject({ lines: 3, waiting: 0 });
    await made.close();
    expect(read()).toEqual([
      { kind: 'telemetry', atMs: clock.utcMs(), latencyMs: 30, dropRate: 0 },
      { kind: 'report', atMs: clock.utcMs(), player: 'p', observations: [] },
      { kind: 'trigger', atMs: clock.utcMs(), data: { name: 'latency' } },
    ]);
  });

  test('survives a real full device', async () => {
    // Only Linux has a device that is always full.
    const device = existsSync('/dev/full') ? '/dev/full' : join(folder, 'file');
    const files = {
      ...nodeFiles,
      appendFile: (_: unknown, data: unknown) => nodeFiles.appendFile(device, data as string),
    };
    const { made, problems, clock } = recorder({ files });
    await made.open();
    made.record('trigger', { data: {} });
    await made.flush();
    clock.advance(1);
    await made.flush();
    const isFull = device === '/dev/full';
    expect(problems.list().map(({ code }) => code)).toEqual(isFull ? ['failed'] : []);
    const closing = made.close();
    if (isFull) await expect(closing).rejects.toThrow('recording: 1 line is lost: the disk is full');
    await closing.catch(() => {});
  });

  test('contains traces that other commands can read, in UTC and with pings', async () => {
    const { made, clock, directory } = recorder({ place: () => '48.1, 11.6' });
    await made.open();
    const zeroMs = clock.utcMs();
    const utcMsAt = (seconds: number) => zeroMs + seconds * 1000;
    // 40 s of downloading, a pause of 10 s, and 10 s of downloading.
    for (let tenth = 300; tenth < 900; tenth++) {
      const startSeconds = tenth / 10;
      const isBusy = tenth < 700 || tenth >= 800;
      const rest = { startSeconds, endSeconds: startSeconds + 0.1 };
      if (tenth % 10 === 0) made.telemetry({ atMs: utcMsAt(startSeconds), latencyMs: 25, dropRate: 0.01 });
      made.observation(isBusy ? { kind: 'throughput', ...rest, bits: 4e6 } : { kind: 'idle', ...rest }, utcMsAt);
    }
    await made.close();
    const [first, second] = readTraces([directory]);
    expect(first!.durationSeconds).toBe(40);
    expect(second!.durationSeconds).toBeGreaterThanOrEqual(9);
    expect([...first!.ratesBps].every((rate) => Math.abs(rate - 40e6) < 1e5)).toBe(true);
    expect(first!.rttSeconds![5]).toBeCloseTo(0.025);
    expect(first!.metadata).toMatchObject({
      dataset: 'recorded',
      recordingGroup: `48.1, 11.6 ${new Date(zeroMs).toISOString().slice(0, 10)}`,
      startUtcMs: utcMsAt(30),
    });
  });

  test('has no trace of idle players, and begins one with the first busy second', async () => {
    const { made, clock, directory } = recorder();
    await made.open();
    const zeroMs = clock.utcMs();
    const utcMsAt = (seconds: number) => zeroMs + seconds * 1000;
    const tenths = (from: number, to: number, bits?: number) => {
      for (let tenth = from * 10; tenth < to * 10; tenth++) {
        const when = { startSeconds: tenth / 10, endSeconds: (tenth + 1) / 10 };
        made.observation(
          bits === undefined ? { kind: 'idle', ...when } : { kind: 'throughput', ...when, bits },
          utcMsAt,
        );
      }
    };
    tenths(3, 10);
    await made.flush();
    expect(readdirSync(directory).filter((name) => name.startsWith('trace'))).toEqual([]);
    tenths(10, 20, 2e6);
    tenths(20, 21);
    await made.close();
    const [trace] = readTraces([directory]);
    expect(trace).toMatchObject({ durationSeconds: 10, metadata: { startUtcMs: utcMsAt(10) } });
  });

  test('repairs files after a crash and begins a new one', async () => {
    const first = recorder();
    await first.made.open();
    first.made.record('trigger', { data: { n: 1 } });
    await first.made.close();
    const [name] = readdirSync(first.directory);
    appendFileSync(join(first.directory, name!), '{"kind":"tri');
    const second = recorder({ directory: first.directory });
    await second.made.open();
    second.made.record('trigger', { data: { n: 2 } });
    await second.made.close();
    expect(second.read().map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
