/** By `npm run reproduce` and `npm run tables`, documents agree with docs/results, and `--check` finds differences. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { testResults, testSession } from '../replay/evaluation/test-sessions.fixture.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { readSteps, writeStep, differences, rowsToPlay, ranked } = await import(
  new URL('../scripts/result-steps.js', import.meta.url).href
);

type ReproduceStep = { commands: string[][]; tables: Record<string, { columns: object; rows: unknown[][] }> };
const at = temporaryFolder('file');

const script = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'scripts', name), ...args], { encoding: 'utf8' });

const steps = readSteps(join(ROOT, 'docs', 'results'));

test.each(Object.entries<ReproduceStep>(steps))('%s: bash can parse its commands; its rows are whole', (name, step) => {
  expect(spawnSync('bash', ['-nc', step.commands.flat().join('\n')]).status).toBe(0);
  for (const { columns, rows } of Object.values(step.tables)) {
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toHaveLength(Object.keys(columns).length);
  }
  writeStep(at('step.json'), step);
  const kept = readFileSync(join(ROOT, 'docs', 'results', `${name}.json`), 'utf8');
  expect(readFileSync(at('step.json'), 'utf8')).toBe(kept);
});

test('docs/results has the tables of the documents', () => {
  expect(script('tables.js', '--check')).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test('docs/results has the data of the pictures, which are small', () => {
  expect(script('pictures.js', '--check')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  const images = join(ROOT, 'docs', 'images');
  const large = readdirSync(images).filter((name) => statSync(join(images, name)).size > 30_000);
  expect(large).toEqual(['demo.webp']);
});

const table = {
  files: [],
  columns: { recordings: null, algorithm: null, QoE: 1, 'QoE, difference': 2 },
  rows: [
    ['one', 'mpc-l', 1.2, [0.42, -0.1, 1]],
    ['all', 'mpc-l', 1.2, null],
  ],
};
const now = (qoe: number, difference: unknown) => [['one', 'mpc-l', qoe, difference], table.rows[1]];

test('differences are those of any number', () => {
  expect(differences(table, table.rows)).toEqual({ compared: 3, lines: [] });
  expect(differences(table, now(1.3, [0.42, -0.1, 1.01]))).toEqual({
    compared: 3,
    lines: [
      'one mpc-l: QoE is 1.2 in docs, 1.3 now',
      'one mpc-l: QoE, difference is [0.42,-0.1,1] in docs, [0.42,-0.1,1.01] now',
    ],
  });
});

test('differences are outside the interval, where a run cannot be repeated exactly', () => {
  const within = { ...table, compare: 'interval' as const };
  expect(differences(within, now(9, [0.99, 0, 2]))).toEqual({ compared: 1, lines: [] });
  for (const value of [-0.11, 1.01]) expect(differences(within, now(1.2, [value, 0, 2])).lines).toHaveLength(1);
  expect(differences(within, now(1.2, null)).lines).toHaveLength(1);
});

test('differences leave out rows of data sets that were not played', () => {
  expect(differences(table, now(9, null), ['one'])).toEqual({ compared: 0, lines: [] });
  expect(differences(table, now(1.2, [0.42, -0.1, 1]), ['other'])).toEqual({ compared: 2, lines: [] });
  expect(() => differences(table, [undefined, table.rows[1]])).toThrow('no row one mpc-l in the results');
});

test("a user's algorithm has a row beside each of MPC-L's, and ranks among them", () => {
  const league = { ...table, rankedBy: 'QoE', rows: table.rows.map(([set, name, qoe]) => [set, name, qoe, null]) };
  const rows = rowsToPlay(league, ['./mine.ts']);
  expect(rows).toEqual([...league.rows, ['one', './mine.ts', null, null], ['all', './mine.ts', null, null]]);
  const played = rows.map(([set, name]: string[]) => [set, name, name === 'mpc-l' ? 1.2 : 1.3, null]);
  expect(ranked({ ...league, rows }, played).map((row: unknown[]) => row.slice(0, 2).join(' '))).toEqual([
    ...['one ./mine.ts', 'one mpc-l', 'all ./mine.ts', 'all mpc-l'],
  ]);
  expect(ranked(table, [undefined, undefined])).toEqual(table.rows);
});

describe('npm run reproduce and npm run tables', () => {
  const reproduce = (...args: string[]) =>
    script('reproduce.js', '--data', at('data'), '--results', at('docs/results'), '--out', at('out'), ...args);
  const table = { files: ['a*.json'], columns: { recordings: null, algorithm: null, QoE: 1 } };
  const step = {
    ...{ does: 'it', minutes: 2, gigabytes: 0.5, recordings: ['links'] },
    commands: [['echo "--seed 7" > /dev/null', 'cp $DATA/links/all.json $OUT']],
    tables: { one: { ...table, rows: [['set', 'mpc-d', 10]] } },
  };
  const state = (qoe: number) =>
    writeStep(at('docs/results/one.json'), { ...step, tables: { one: { ...table, rows: [['set', 'mpc-d', qoe]] } } });
  beforeAll(() => {
    mkdirSync(at('data/links'), { recursive: true });
    mkdirSync(at('docs/results'), { recursive: true });
    writeFileSync(at('data/links/all.json'), JSON.stringify(testResults([testSession({ qoeLinear: 10.04 })])));
    state(10);
    writeStep(at('docs/results/two.json'), { ...step, needs: 'browser', tables: {} });
    writeStep(at('docs/results/three.json'), { ...step, recordings: ['links', 'far/b', 'far/c'], tables: {} });
    // The command fails after the first half, and succeeds when it runs again.
    writeStep(at('docs/results/halves.json'), {
      ...{ ...step, recordings: ['links', 'far/leocc-digitised'] },
      commands: [
        ['test -e $OUT/half || { touch $OUT/half; exit 4; }'],
        ['test "$TRACES $(basename $OWN)" = "--traces $DATA/links mine.ts"'],
      ],
      tables: {},
    });
  });

  test('lists what it will run, for how long, and why it does not run the others', () => {
    const { status, stderr } = reproduce('--list');
    expect(status).toBe(0);
    expect(stderr).toContain('will run  one: it; 2 min on 2 idle cores, 0.5 GB\n');
    expect(stderr).toMatch(/not run {3}two: .*\(only with --with browser\)\n/);
    expect(stderr).toMatch(/not run {3}three: .*\(no far\/b, far\/c in .*; docs\/datasets\.md\)\n/);
    expect(stderr).toMatch(/will run {2}halves: .*\(no far\/leocc-digitised in .*; docs\/datasets\.md\)\n/);
    expect(stderr).toContain('2 steps, 4 min, 1.0 GB in ');
    expect(reproduce('--list', '--with', 'browser').stderr).toContain('3 steps, 6 min, 1.5 GB in ');
    expect(existsSync(at('out'))).toBe(false);
    expect(reproduce('four')).toMatchObject({ status: 2, stderr: expect.stringContaining('no step four') });
    for (const wrong of ['--no-such-option', '--with=nothing']) {
      const usage = expect.stringContaining('\n\nusage: ');
      expect(reproduce('--list', wrong)).toMatchObject({ status: 2, stdout: '', stderr: usage });
    }
  });

  test('--check passes, and fails once a number differs; --update states it', () => {
    const passes = reproduce('--check', 'one');
    expect([passes.status, passes.stdout]).toEqual([0, 'one: 1 numbers compared, 0 differ\n']);
    const { commit, node, inputs, outputs } = JSON.parse(readFileSync(at('out/one/manifest.json'), 'utf8'));
    expect(commit).toMatch(/^[0-9a-f]{40}/);
    expect(node).toBe(process.version);
    expect(outputs['all.json']).toBe(inputs['links/all.json']);

    state(10.1);
    const fails = reproduce('--check', 'one');
    expect(fails.status).toBe(1);
    expect(fails.stdout).toContain('one: set mpc-d: QoE is 10.1 in docs, 10 now\n');
    expect(reproduce('--update', 'one').status).toBe(0);
    expect(readSteps(at('docs/results'))['one']!.tables['one']!.rows).toEqual([['set', 'mpc-d', 10]]);
    expect(reproduce('three').status).toBe(1);
  });

  test('a step that fails does not stop others, and goes on from there the next time', () => {
    writeFileSync(at('mine.ts'), '');
    const own = ['--algorithm', at('mine.ts')];
    const fails = reproduce('--check', 'halves', 'one', ...own);
    expect(fails.status).toBe(1);
    expect(fails.stderr).toContain('halves: status 4; the same command goes on from there\n');
    expect(fails.stdout).toBe('one: 1 numbers compared, 0 differ\n');
    expect(reproduce('--check', 'halves', ...own).status).toBe(0);
  });

  // The tables of the documents show bold intervals, signs, dashes and alignment.
  test('tables leave out rows without numbers, and a column that the mark fixes; unknown names are errors', () => {
    const columns = { name: null, QoE: 1, 'QoE, difference': 2 };
    const rows = [
      ['a', 10, [1.5, 0.25, 2]],
      ['b', null, null],
    ];
    const later = { columns, rows: rows.slice(1) };
    writeStep(at('docs/results/two.json'), { ...step, tables: { two: { columns, rows }, later }, played: 'today' });
    const written = (mark: string, ...flags: string[]) => {
      writeFileSync(at('docs/page.md'), `${mark}\nold\n<!-- /table -->\n`);
      const { status, stderr } = script('tables.js', '--docs', at('docs'), ...flags);
      return { status, lines: readFileSync(at('docs/page.md'), 'utf8').split('\n').slice(4, -3), stderr };
    };
    expect(written('<!-- table: two -->', '--check').status).toBe(1);
    const row = '10.0 | **+1.50 [+0.25, +2.00]** |';
    expect(written('<!-- table: two -->').lines).toEqual([`| \`a\`  | ${row}`]);
    expect(written('<!-- table: two[name=a] -->').lines).toEqual([`| ${row}`]);
    expect(written('<!-- table: later -->').lines).toEqual([]);
    writeFileSync(at('README.md'), '<!-- played: two --><!-- /played -->');
    expect(script('tables.js', '--docs', at('docs')).status).toBe(0);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('<!-- played: two -->today<!-- /played -->');
    expect(written('<!-- table: none -->').stderr).toContain('page.md: no table none in docs/results');
    const value = '<!-- value: two QoE -->1<!-- /value -->';
    expect(written(value).stderr).toContain('page.md: not one value two QoE in docs/results');
  });
});
