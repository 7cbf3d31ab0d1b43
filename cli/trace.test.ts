import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../replay/folder.fixture.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { refused, run } from './shared/run.fixture.ts';

const at = temporaryFolder('test');

const trace = (...args: string[]) => run(['trace', ...args]);

const CSV = 'time_s,throughput_mbps,rtt_ms,loss\n';

test('synthesize writes traces with sidecars, the same bytes again, and reads them back', async () => {
  const flags = ['--preset', 'stationary-live', '--step', '0.1', '--seed', '7', '--count', '2', '--duration', '30'];
  for (const out of ['a', 'b']) {
    expect(await trace('synthesize', ...flags, '--out', at(out))).toMatchObject({ status: 0, stdout: '' });
  }
  const files = readdirSync(at('a')).sort();
  expect(files).toEqual([7, 8].flatMap((seed) => [`stationary-live-${seed}.csv`, `stationary-live-${seed}.json`]));
  for (const file of files) expect(readFileSync(at('b', file), 'utf8')).toBe(readFileSync(at('a', file), 'utf8'));
  const [read] = readTraces([at('a')]);
  const other = { synthetic: true, seed: 7 };
  const metadata = { dataset: 'synthetic-stationary-live', recordingGroup: 'stationary-live-7', other };
  expect(read).toMatchObject({ name: 'stationary-live-7', durationSeconds: 30, metadata });
  expect(read!.stepEndsSeconds).toHaveLength(300);
  const { epochPhaseSeconds, handoverPhaseSeconds } = read!.metadata;
  expect((epochPhaseSeconds! + handoverPhaseSeconds!) % 15).toBeCloseTo(12, 9);
});

test.each([
  [['--preset', 'mars'], "argument 'mars' is invalid"],
  [['--seed', 'x'], '--seed: expected a whole number'],
  [['--count', '0'], '--count: expected a whole number'],
  [['--duration', '-5'], 'duration: expected a number of seconds'],
  [['--duration', ''], '--duration: expected a number'],
  [['--step', '0.33'], 'step: expected a multiple of 0.1 s'],
  [['--mbps', '5'], 'mbps: expected none with stationary'],
])('synthesize rejects %j with status 2 and writes nothing', async (flags, message) => {
  await refused(trace('synthesize', ...flags, '--out', at('out')), message);
  expect(existsSync(at('out'))).toBe(false);
});

test('info prints a row per trace, also of a constant one without a clock', async () => {
  await trace('synthesize', '--preset', 'driving-udp', '--seed', '3', '--count', '2', '--out', at('in'));
  put(at('in/flat.csv'), `${CSV}${Array.from({ length: 90 }, (_, i) => `${i},8,,`).join('\n')}\n`);
  const { status, stdout } = await trace('info', at('in'));
  expect(status).toBe(0);
  expect(stdout.split('\n').slice(1, 4)).toEqual([
    expect.stringMatching(/^driving-udp-3 +synthetic-driving +600 +1 /),
    expect.stringMatching(/^driving-udp-4 +synthetic-driving +600 +1 /),
    expect.stringMatching(/^flat +in +90 +1 +(8\.00 +){6}0\.0 +0 +0 +0 +- +-$/),
  ]);
});

test('info of a missing path, or of a wrong line: status 2 with the place', async () => {
  await refused(trace('info', at('nowhere')), 'nowhere');
  const bad = put(at('in/b.csv'), `${CSV}0,1,,\n1,NaN,,\n`);
  const message = 'throughput_mbps: expected a rate in Mbit/s, 0 to 1e6 (blank = unknown), got "NaN"';
  await refused(trace('info', at('in')), `${bad}:3: ${message}`);
});
