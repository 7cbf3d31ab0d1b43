import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testReport } from '../../abr/qoe/session-report.fixture.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { refused, run } from '../shared/run.fixture.ts';
import { trainingProject } from './python.ts';

const at = temporaryFolder('test');

const train = (...args: string[]) => run(['train', ...args]);

/** Writes a recording, by default of a minute. */
function putTrace(name: string, group: string, extra: Record<string, string> = {}, seconds = 60): void {
  const rates = Array.from({ length: seconds }, (_, i) => `${i},${20 + 10 * Math.sin(i / 5)},,`);
  put(at('data', `${name}.csv`), `time_s,throughput_mbps,rtt_ms,loss\n${rates.join('\n')}\n`);
  const sidecar = { dataset: 'own', recording_group: group, licence: 'CC0', ...extra };
  put(at('data', `${name}.json`), JSON.stringify(sidecar));
}

/** Makes an environment whose interpreter records its arguments and returns the shipped model as the trained model. */
function putEnvironment(): string[] {
  const pyproject = readFileSync(join(trainingProject(), 'pyproject.toml'));
  put(at('env', 'leo-abr-training.sha256'), createHash('sha256').update(pyproject).digest('hex'));
  const golden = [{ features: SHIPPED_FILE.features.map(() => 0), logRatios: Array.from({ length: 63 }, () => 0) }];
  const own = { rows: 9, pinball: [0.1], coverage50: [0.5], coverage90: [0.9], rankCorrelation: 0.7 };
  const scores = { stepEndsSeconds: [1], datasets: { own } };
  const fit = { settings: { hidden: [24, 16] }, seed: 1, rows: 12, numpy: '2', scoresAreHeldOut: true, scores, golden };
  writeFileSync(at('trained.json'), JSON.stringify({ ...SHIPPED_FILE, name: 'mine', fit }));
  const python = `#!${process.execPath}
const { copyFileSync, readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
const folder = args[args.indexOf('--rows') + 1];
const rows = JSON.parse(readFileSync(folder + '/rows.json', 'utf8'));
writeFileSync(${JSON.stringify(at('called.json'))}, JSON.stringify({ args, rows }));
if (args.includes('--model')) copyFileSync(${JSON.stringify(at('trained.json'))}, args[args.indexOf('--model') + 1]);
console.log('fitted 1 of 1');
`;
  chmodSync(put(at('env', 'bin', 'python'), python), 0o755);
  return ['--environment', at('env')];
}

test('writes the model with its card, for programs and for people', async () => {
  putTrace('monday', 'roof-1');
  putTrace('tuesday', 'roof-2');
  putTrace('other', 'elsewhere', { dataset: 'theirs', licence: 'none stated' });
  putTrace('short', 'roof-3', {}, 20);
  const environment = putEnvironment();
  const out = at('models', 'mine.json');
  const flags = ['--data', at('data'), '--out', out, '--name', 'mine', '--seed', '3', '--leave-out', 'theirs'];
  const { status, stdout, stderr } = await train(...flags, ...environment);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect(stderr).toContain('sessions');
  expect(stderr).toContain('fitted 1 of 1');

  const { args, rows } = JSON.parse(readFileSync(at('called.json'), 'utf8'));
  expect(args.slice(0, 2)).toEqual(['-m', 'leo_abr_training']);
  expect(args).toEqual(expect.arrayContaining(['--name', 'mine', '--seed', '3', '--jobs', '1']));
  expect(rows).toMatchObject({ modelVersion: SHIPPED_FILE.version, groups: ['roof-1', 'roof-2', 'roof-3'] });
  expect(rows.rows).toBeGreaterThan(100);

  const model = JSON.parse(readFileSync(out, 'utf8'));
  expect(model).toMatchObject({ format: SHIPPED_FILE.format, name: 'mine', layers: SHIPPED_FILE.layers });
  expect(model.fit).toBeUndefined();
  expect(model.card.inputs.map(({ name }: { name: string }) => name)).toEqual(SHIPPED_FILE.features);
  for (const { meaning } of model.card.inputs) expect(meaning).not.toBe('');
  expect(model.card.data).toEqual([
    { dataset: 'own', licences: ['CC0'], groups: ['roof-1', 'roof-2'], recordings: 2, seconds: 120 },
  ]);
  expect(model.card.leftOut).toMatchObject([{ dataset: 'theirs', licences: ['none stated'] }]);
  expect(model.card.fit).toMatchObject({ rows: 12, scoresAreHeldOut: true });
  const card = readFileSync(at('models', 'mine.md'), 'utf8');
  expect(card).toContain('# mine');
  expect(card).toContain('| own | 2 | 0.03 | roof-1, roof-2 | CC0 |');
  expect(card).toContain('| own | 9 | 0.100 | 90 % | 50 % |');
  // The rows are temporary.
  expect(existsSync(args[args.indexOf('--rows') + 1])).toBe(false);
});

test('passes data sets left out to the folds, marked as such', async () => {
  putTrace('monday', 'roof-1');
  putTrace('tuesday', 'roof-2');
  putTrace('other', 'elsewhere', { dataset: 'theirs' });
  putTrace('short', 'too-short', {}, 20);
  const environment = putEnvironment();
  const flags = ['--data', at('data'), '--folds', at('folds'), '--leave-out', 'theirs'];
  expect(await train(...flags, ...environment)).toMatchObject({ status: 0 });
  const { args, rows } = JSON.parse(readFileSync(at('called.json'), 'utf8'));
  expect(args).toEqual(expect.arrayContaining(['--folds', at('folds')]));
  expect(args).not.toContain('--model');
  expect(rows.groups).toEqual(['elsewhere', 'roof-1', 'roof-2', 'too-short']);
  expect(rows).toMatchObject({ datasets: ['own', 'theirs'], leftOut: ['theirs'] });
});

test('refuses reports of sessions', async () => {
  put(at('reports', 'reports-2026-03-01.ndjson'), `${JSON.stringify(testReport())}\n`);
  const { status, stderr } = await train('--data', at('reports'), '--out', at('x.json'), ...putEnvironment());
  expect(status).toBe(2);
  expect(stderr).toMatch(/ndjson: expected a recording, because reports are none since 0.3.0/);
});

test('writes only the model to standard output', async () => {
  putTrace('monday', 'roof-1');
  const { status, stdout } = await train('--data', at('data'), '--out', '-', ...putEnvironment());
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'mine', card: { data: [{ dataset: 'own' }] } });
});

test.each<[string[], string]>([
  [['--seed', '-1'], '--seed: expected a whole number from 0 to 4294967295, got "-1"'],
  [['--jobs', '0'], '--jobs: expected a whole number from 1 to 1024, got "0"'],
  [['--name', ' '], '--name: expected a name, got " "'],
  [['--leave-out', 'rain'], '--leave-out: expected one of own, got "rain"'],
  [['--leave-out', 'own'], 'a recording of at least 30 s to train on, got nothing but data sets left out'],
  [['--folds', 'x'], '--folds: expected at least two recording groups'],
  [['--environment', 'x-of-others'], 'expected an environment of Python, an empty folder, or none yet, got'],
  [['--python', '/nowhere/python'], '--python: expected an interpreter of Python 3.11 or later'],
])('rejects %j with status 2', async (flags, message) => {
  putTrace('monday', 'roof');
  put(at('x-of-others', 'thesis.tex'), '');
  const paths = flags.map((flag) => (flag.startsWith('x') ? at(flag) : flag));
  await refused(train('--data', at('data'), '--out', at('x.json'), '--environment', at('env'), ...paths), message);
});

test('rejects wrong or short recordings with their place, and no --out', async () => {
  putTrace('short', 'roof', {}, 20);
  const data = ['--data', at('data'), '--out', at('x.json')];
  await refused(train(...data), '--data: expected a recording of at least 30 s');
  writeFileSync(at('data', 'short.csv'), 'time_s,throughput_mbps,rtt_ms,loss\n0,fast,,\n');
  await refused(train(...data), 'short.csv:2: throughput_mbps');
  await refused(train('--data', at('data')), '--out: expected --out, --folds or both, got neither');
});
