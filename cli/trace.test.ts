import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../replay/folder.fixture.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { refused, run } from './shared/run.fixture.ts';

const at = temporaryFolder('test');

const trace = (...args: string[]) => run(['trace', ...args]);

const CSV = 'time_s,throughput_mbps,rtt_ms,loss\n';

describe('trace synthesize', () => {
  test('writes traces with sidecars, the same bytes again, and reads them back', async () => {
    const flags = ['--preset', 'driving', '--seed', '7', '--count', '3', '--duration', '60'];
    for (const out of ['a', 'b']) {
      expect(await trace('synthesize', ...flags, '--out', at(out))).toMatchObject({ status: 0, stdout: '' });
    }
    const files = readdirSync(at('a')).sort();
    expect(files).toEqual([7, 8, 9].flatMap((seed) => [`driving-${seed}.csv`, `driving-${seed}.json`]));
    for (const file of files) expect(readFileSync(at('b', file), 'utf8')).toBe(readFileSync(at('a', file), 'utf8'));
    const [read] = readTraces([at('a')]);
    const metadata = { recordingGroup: 'driving-7', other: { synthetic: true, seed: 7 } };
    expect(read).toMatchObject({ name: 'driving-7', durationSeconds: 60, metadata });
    expect(read!.metadata.dataset).toBe('synthetic-driving');
  });

  test('--step 0.1 of a live preset: ten rows a second, the place of the handovers in the sidecar', async () => {
    const flags = ['--preset', 'stationary-live', '--step', '0.1', '--duration', '30'];
    expect(await trace('synthesize', ...flags, '--out', at('a'))).toMatchObject({ status: 0 });
    const [read] = readTraces([at('a')]);
    expect(read!.stepEndsSeconds).toHaveLength(300);
    const { dataset, epochPhaseSeconds, handoverPhaseSeconds } = read!.metadata;
    expect(dataset).toBe('synthetic-stationary-live');
    expect((epochPhaseSeconds! + handoverPhaseSeconds!) % 15).toBe(12);
  });

  test.each([
    [['--preset', 'mars'], "argument 'mars' is invalid"],
    [['--seed', 'x'], '--seed: expected a whole number'],
    [['--count', '0'], '--count: expected a whole number'],
    [['--duration', '-5'], 'duration: expected a number of seconds'],
    [['--duration', ''], '--duration: expected a number'],
    [['--step', '0.33'], 'step: expected a multiple of 0.1 s'],
    [['--mbps', '5'], 'mbps: expected none with stationary'],
  ])('rejects %j with status 2 and writes nothing', async (flags, message) => {
    await refused(trace('synthesize', ...flags, '--out', at('out')), message);
    expect(existsSync(at('out'))).toBe(false);
  });

  test('an unwritable folder: status 2', async () => {
    put(at('file'), 'x');
    await refused(trace('synthesize', '--out', at('file', 'below')), 'expected a file that can be written');
    expect(readFileSync(at('file'), 'utf8')).toBe('x');
  });
});

describe('trace info', () => {
  test('prints a row per trace', async () => {
    await trace('synthesize', '--preset', 'driving-udp', '--seed', '3', '--count', '2', '--out', at('in'));
    const table = await trace('info', at('in'));
    expect(table.status).toBe(0);
    expect(table.stdout.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^driving-udp-3 +synthetic-driving +600 +1 /),
      expect.stringMatching(/^driving-udp-4 +synthetic-driving +600 +1 /),
    ]);
  });

  test('handles a constant trace without a clock', async () => {
    const text = Array.from({ length: 90 }, (_, i) => `${i},8,,`).join('\n');
    put(at('in/flat.csv'), `${CSV}${text}\n`);
    const { stdout } = await trace('info', at('in'));
    expect(stdout).toMatch(/^flat +unknown +90 +1 +(8\.00 +){6}0\.0 +0 +0 +0 +- +-$/m);
  });

  test('a missing path, or a wrong line: status 2 with the place', async () => {
    await refused(trace('info', at('nowhere')), 'nowhere');
    const bad = put(at('in/b.csv'), `${CSV}0,1,,\n1,NaN,,\n`);
    const message = 'throughput_mbps: expected a rate in Mbit/s, 0 to 1e6 (blank = unknown), got "NaN"';
    await refused(trace('info', at('in')), `${bad}:3: ${message}`);
  });
});
