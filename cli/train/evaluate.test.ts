import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { seededRandom } from '../../abr/random.ts';
import { SHIPPED_FILE } from '../../predictor/built-in/shipped-file.fixture.ts';
import { run } from '../run.fixture.ts';
import type { Evaluation } from './evaluation-page.ts';
import { TRAINING_PROJECT } from './python.ts';

let folder: string;
const at = (...path: string[]) => join(folder, ...path);

const evaluate = (...args: string[]) => run(['evaluate', ...args]);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-evaluate-test-'));
  mkdirSync(at('traces'));
  const random = seededRandom(4);
  for (const group of ['a', 'b']) {
    const rates = Array.from({ length: 240 }, (_, i) => `${i},${(60 * Math.exp(random() - 0.5)).toFixed(3)},,`);
    writeFileSync(at('traces', `${group}.csv`), `time_s,throughput_mbps,rtt_ms,loss\n${rates.join('\n')}\n`);
    const sidecar = { dataset: 'own', recording_group: group, epoch_phase_s: 3 };
    writeFileSync(at('traces', `${group}.json`), JSON.stringify(sidecar));
  }
  writeFileSync(at('model.json'), JSON.stringify(SHIPPED_FILE));
  writeFileSync(at('folds.json'), JSON.stringify({ a: 'model.json', b: 'model.json' }));
  mkdirSync(at('pings'));
  const pings = Array.from({ length: 200 }, (_, i) => `${1700000000 + i / 2},${30 + (i % 4)},0`);
  writeFileSync(at('pings', 'roof.csv'), `unix_s,pop_ping_ms,drop\n${pings.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A fake environment, whose interpreter always forecasts 50. */
function putEnvironment(): string {
  const stamp = createHash('sha256')
    .update(readFileSync(join(TRAINING_PROJECT, 'pyproject.toml')))
    .update('evaluation');
  mkdirSync(at('env', 'bin'), { recursive: true });
  writeFileSync(at('env', 'leo-abr-training.sha256'), stamp.digest('hex'));
  const python = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
const { series, historySeconds } = JSON.parse(readFileSync(args[args.indexOf('--series') + 1], 'utf8'));
const fifty = series.map(({ kind, values }) =>
  kind === 'latency' ? null : values.slice(historySeconds).map(() => 50));
writeFileSync(args[args.indexOf('--out') + 1], JSON.stringify({ XGBoost: fifty }));
`;
  writeFileSync(at('env', 'bin', 'python'), python);
  chmodSync(at('env', 'bin', 'python'), 0o755);
  return at('env');
}

/** Simulated sessions of an algorithm, relabelled as MPC-L's. */
async function putResults(file: string, algorithm: string) {
  const algorithms = ['--algorithms', algorithm, '--baseline', algorithm];
  const flags = ['--traces', at('traces'), ...algorithms, '--scenario', 'uhd-8', '--segments', '12'];
  const { status, stdout } = await run(['simulate', ...flags]);
  expect(status).toBe(0);
  writeFileSync(at(file), stdout.replaceAll(JSON.stringify(algorithm), '"mpc-l"'));
}

test('scores forecasts per data set and pooled, and draws them', async () => {
  const flags = ['--traces', at('traces'), '--fold-models', at('folds.json'), '--out', at('out')];
  const more = ['--latency', at('pings'), '--trained', '--environment', putEnvironment()];
  for (const [model, algorithm] of [
    ['near', 'mpc-l'],
    ['far', 'throughput'],
  ] as const) {
    await putResults(`${model}.json`, algorithm);
    more.push('--qoe', `${model}=${at(`${model}.json`)}`);
  }
  const { status, stdout, stderr } = await evaluate(...flags, ...more);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('evaluation.html') });

  const { forecasts, points, qoe }: Evaluation = JSON.parse(readFileSync(at('out', 'evaluation.json'), 'utf8'));
  expect(forecasts).toMatchObject({ scenario: 'uhd-8', starts: 'every:61', levels: SHIPPED_FILE.levels });
  expect(Object.keys(forecasts.scores)).toEqual(['own', 'pooled']);
  const own = forecasts.scores['own']!;
  expect(own).toEqual(forecasts.scores['pooled']);
  expect(own.forecasts).toBeGreaterThan(200);
  for (const score of [own.pinball, own.crps]) {
    expect(Object.keys(score)).toHaveLength(8);
    for (const values of Object.values(score)) {
      expect(values).toHaveLength(forecasts.stepEndsSeconds.length);
      for (const value of values) expect(value).toBeGreaterThan(0);
    }
  }
  // White noise: the last value carries no information, so it loses most.
  expect(own.pinball['last value']![4]).toBeGreaterThan(own.pinball['EWMA 30 s']![4]!);
  for (const step of own.below['built-in']!) expect(step).toEqual([...step].sort((a, b) => a! - b!));

  expect(Object.keys(points!.throughput['own']!)).toEqual([
    'last value',
    'harmonic mean (5 s)',
    'EWMA',
    'built-in',
    'XGBoost',
  ]);
  expect(points!.latency['pings']!['last value']).toMatchObject({ forecasts: 80, mape: expect.any(Number) });
  expect(points!.latency['pings']!['XGBoost']).toBeUndefined();

  expect(qoe).toMatchObject([
    { scenario: 'uhd-8', places: { own: [{ model: 'near', difference: null }, { model: 'far' }] } },
  ]);
  const [near, far] = qoe[0]!.places['own']!;
  expect(far!.difference!.pairs).toBe(2);
  expect(far!.difference!.qoe.value).toBeCloseTo(far!.qoe - near!.qoe, 9);
  expect(far!.difference!.qoe.value).not.toBe(0);
  expect(stdout).toContain('| own | near | ');

  const page = readFileSync(at('out', 'evaluation.html'), 'utf8');
  expect(page.match(/<svg /g)).toHaveLength(2 * (3 + 5));
  expect(page).not.toMatch(/NaN|undefined|<script|src=|href="[^#]/);
  expect(stdout).toContain('| own, against |');
  expect(stdout).toContain('throughput, own: 440 forecasts');
}, 30_000);

test('prints the calibration within a second in live sessions', async () => {
  const { status, stdout } = await evaluate('--live', '--traces', at('traces'));
  expect(status).toBe(0);
  const rows = stdout.split('\n').filter((line) => line.startsWith('| own | '));
  expect(rows.map((row) => row.split(' | ')[1])).toEqual(['0–0.1', '0.5–0.6', '0–0.5', '0–1', '0–2']);
  for (const row of rows) {
    const [decisions, ...shares] = row.split(' | ').slice(2).map(Number.parseFloat);
    expect(decisions).toBeGreaterThan(100);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    // White noise with a spread of 0.3 per second: the median splits the outcomes.
    expect(Math.abs(shares[3]! - 50)).toBeLessThan(20);
    expect(shares[0]).toBeLessThan(20);
    expect(shares[5]).toBeGreaterThan(65);
  }
  const folds = await evaluate('--live', '--traces', at('traces'), '--fold-models', at('folds.json'));
  expect(folds.stdout).toBe(stdout);
}, 30_000);

test.each<[string[], string]>([
  [[], '--fold-models: expected a file without --live'],
  [['--fold-models', 'folds.json'], '--out: expected a folder without --live'],
  [['--live', '--scenario', 'uhd-8'], '--scenario: expected a live one with --live, got "uhd-8"'],
])('with %j says what is missing', async (flags, message) => {
  const { status, stderr } = await evaluate('--traces', at('traces'), ...flags);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});

test.each<[string[], string]>([
  [['--scenario', 'uhd-9'], 'uhd-9'],
  [['--fold-models', 'half.json'], 'half.json: b: expected a model for each recording group'],
  [['--qoe', 'near'], '--qoe: expected <model>=<results.json>, got "near"'],
  [['--qoe', 'near=/nowhere.json'], '--qoe: expected a readable file, got /nowhere.json: ENOENT'],
  [['--latency', '/nowhere'], '/nowhere: expected a file or folder, got nothing there'],
  [['--latency', 'wrong.csv'], 'wrong.csv:3: rtt_ms: expected a number, got "slow"'],
  [['--latency', 'other.csv'], 'other.csv:1: expected a column rtt_ms or pop_ping_ms, got "time_s,weight"'],
])('rejects %j with status 2', async (flags, message) => {
  writeFileSync(at('half.json'), JSON.stringify({ a: 'model.json' }));
  writeFileSync(at('wrong.csv'), 'time_s,rtt_ms\n0,30\n1,slow\n');
  writeFileSync(at('other.csv'), 'time_s,weight\n0,30\n');
  const [flag, value] = flags as [string, string];
  const given = value.includes('.') && !value.includes('=') ? at(value) : value;
  const base = { '--traces': at('traces'), '--fold-models': at('folds.json'), '--out': at('out2'), [flag]: given };
  const { status, stderr } = await evaluate(...Object.entries(base).flat());
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});
