/** `npm run reproduce`: its steps fit the tables of the documents, and `--check` finds what differs. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Table {
  doc: string;
  columns: Record<string, unknown>;
  where?: Record<string, string>;
}

const scripts = (name: string) => import(new URL(`../scripts/${name}`, import.meta.url).href);
const { STEPS } = (await scripts('reproduce-steps.js')) as {
  STEPS: Record<string, { tables: Table[]; commands: string[] }>;
};
const { tableDifferences } = (await scripts('table-differences.js')) as {
  tableDifferences(
    table: object,
    folders: { docs: string; results: string; without?: string[] },
  ): { compared: number; differences: string[] };
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-reproduce-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.keys(STEPS))('step %s', (name) => {
  const { tables, commands } = STEPS[name]!;

  test('has commands that bash can parse', () => {
    for (const command of commands) expect(spawnSync('bash', ['-nc', command]).status).toBe(0);
  });

  test('fits tables, and findings.md names it', () => {
    for (const table of tables) {
      const names = readFileSync(join(ROOT, 'docs/findings.md'), 'utf8').match(/npm run reproduce -- [\w -]+/g) ?? [];
      expect(names.flatMap((command) => command.split(' '))).toContain(name);
      // The table is found, and its rows ask for a report that is not there.
      const docs = join(ROOT, 'docs');
      expect(() => tableDifferences(table, { docs, results: folder })).toThrow(/ENOENT.*\.md'/);
    }
  });
});

describe('tableDifferences', () => {
  const table = {
    ...{ doc: 'docs/page.md', heading: 'Figures', where: { links: 'ten' } },
    ...{ report: 'report.md', caption: '{links}:', names: { ten: 'all' }, row: { algorithm: '{algorithm}' } },
    columns: { 'QoE, worst': ['QoE', 'least'], 'QoE, worst#2': 'QoE#2' },
  };
  const compare = (doc: string, report: string, more = {}, without: string[] = []) => {
    writeFileSync(join(folder, 'page.md'), doc);
    writeFileSync(join(folder, 'report.md'), report);
    return tableDifferences({ ...table, ...more }, { docs: folder, results: folder, without });
  };
  const DOC = `# Page\n\n## Figures\n\nText.\n
| links | algorithm | QoE, worst | QoE, worst |
| ----- | --------- | ---------: | ---------- |
| ten   | \`mpc-l\` | 1.2, −30   | **+0.42 (-0.10 to +1.00)** |
| two   | \`mpc-l\` | 9.9, 9     | 9 |\n\n## Other\n`;
  const REPORT = `one: a caption\n\n| algorithm | QoE | least | QoE |\n| --- | --- | --- | --- |\n| mpc-l | 5 | 5 | 5 |\n
all: a caption\n\n| algorithm | QoE | least | QoE |\n| --- | --- | --- | --- |\n| mpc-l | 1.24 | −29.7 | +0.42 (−0.10 to +1.00) |\n`;

  test('equal numbers up to rounding', () => {
    expect(compare(DOC, REPORT)).toEqual({ compared: 5, differences: [] });
  });

  test('a table that is a CSV file', () => {
    writeFileSync(join(folder, 'page.csv'), 'links,algorithm,"QoE, worst"\nten,mpc-l,"1.3, −30"\n');
    const csv = { doc: 'docs/page.csv', columns: { 'QoE, worst': ['QoE', 'least'] } };
    expect(compare(DOC, REPORT, csv)).toEqual({
      compared: 2,
      differences: ['ten mpc-l: QoE, worst is 1.3, −30 in the doc, 1.24, −29.7 now'],
    });
  });

  test.each([
    ['1.24', '1.26', 'ten mpc-l: QoE, worst is 1.2, −30 in the doc, 1.26, −29.7 now'],
    ['−29.7', '29.7', 'ten mpc-l: QoE, worst is 1.2, −30 in the doc, 1.24, 29.7 now'],
    ['+1.00)', '+1.01)', 'ten mpc-l: QoE, worst#2 is +0.42 (-0.10 to +1.00) in the doc, +0.42 (−0.10 to +1.01) now'],
    ['| 1.24 |', '| – |', 'ten mpc-l: QoE, worst is 1.2, −30 in the doc, –, −29.7 now'],
  ])('%s -> %s differs', (from, to, difference) => {
    expect(compare(DOC, REPORT.replace(from, to)).differences).toEqual([difference]);
  });

  test('within the interval of the document, where it has one', () => {
    const within = { within: 'interval' };
    const now = (value: string) => compare(DOC, REPORT.replace('+0.42 (', `${value} (`), within);
    expect(now('+0.99')).toEqual({ compared: 3, differences: [] });
    expect(now('−0.11').differences).toHaveLength(1);
    expect(now('+1.01').differences).toHaveLength(1);
  });

  test('rows of a set that was not played, and over all sets, are left out', () => {
    expect(compare(DOC, REPORT, {}, ['all'])).toEqual({ compared: 0, differences: [] });
    expect(compare(DOC, REPORT, { acrossSets: 'all' }, ['other'])).toEqual({ compared: 0, differences: [] });
    expect(compare(DOC, REPORT, {}, ['other'])).toEqual({ compared: 5, differences: [] });
  });

  test('a table, row or column that is missing is an error', () => {
    expect(() => compare(DOC.replace('## Figures', '## Numbers'), REPORT)).toThrow('no heading "Figures"');
    expect(() => compare(DOC.replaceAll('QoE, worst', 'QoE'), REPORT)).toThrow('no table with the columns');
    expect(() => compare(DOC, REPORT.replaceAll('mpc-l', 'mpc-d'))).toThrow('no QoE of [["algorithm","mpc-l"]]');
  });
});

describe('npm run reproduce', () => {
  const at = (name: string) => join(folder, name);
  const reproduce = (...args: string[]) =>
    spawnSync(
      process.execPath,
      [
        join(ROOT, 'scripts', 'reproduce.js'),
        ...['--steps', at('steps.mjs'), '--data', at('data'), '--docs', at('docs'), '--out', at('out'), ...args],
      ],
      { encoding: 'utf8' },
    );
  const step = (more: object) => ({
    does: 'it',
    minutes: 2,
    gigabytes: 0.5,
    recordings: ['links'],
    commands: ['echo "$(cat $DATA/links/a.csv) --seed 7" > /dev/null', 'cat $DATA/links/a.csv > $OUT/report.md'],
    tables: [
      { doc: 'docs/page.md', heading: 'Page', report: 'report.md', row: { name: '{name}' }, columns: { QoE: 'QoE' } },
    ],
    ...more,
  });
  const TABLE = '| name | QoE |\n| --- | --- |\n| a | 1.5 |\n';
  beforeAll(() => {
    mkdirSync(at('data/links'), { recursive: true });
    mkdirSync(at('docs'));
    const steps = {
      one: step({}),
      two: step({ needs: 'browser' }),
      three: step({ recordings: ['links', 'far/b', 'far/c'] }),
      // Its command plays one half, and fails in between.
      halves: step({
        recordings: ['links', 'far/leocc-digitised'],
        commands: [
          'test -e $OUT/half || { touch $OUT/half; exit 4; }',
          'test "$TRACES" = "--traces $DATA/links"',
          'cat $DATA/links/a.csv > $OUT/report.md',
        ],
      }),
    };
    writeFileSync(at('steps.mjs'), `export const STEPS = ${JSON.stringify(steps)};`);
    writeFileSync(at('data/links/a.csv'), TABLE);
    writeFileSync(at('docs/page.md'), `# Page\n\n${TABLE}`);
  });

  test('lists what it will run, for how long, and why it does not run the others', () => {
    const { status, stderr } = reproduce('--list');
    expect(status).toBe(0);
    expect(stderr).toContain('will run  one: it; 2 min on 2 idle cores, 0.5 GB\n');
    expect(stderr).toMatch(/not run {3}two: .*\(only with --with browser\)\n/);
    expect(stderr).toMatch(
      /not run {3}three: .*\(no far\/b, far\/c in .*; npx leo-abr datasets fetch b c --out .*far\)\n/,
    );
    expect(stderr).toMatch(
      /will run {2}halves: .*\(no far\/leocc-digitised in .*; leocc-digitised has no recipe: .*\)\n/,
    );
    expect(stderr).toContain('2 steps, 4 min, 1.0 GB in ');
    expect(reproduce('--list', '--with', 'browser').stderr).toContain('3 steps, 6 min, 1.5 GB in ');
    expect(existsSync(at('out'))).toBe(false);
    expect(reproduce('four')).toMatchObject({ status: 2, stderr: expect.stringContaining('no step four') });
  });

  test('--check passes, and fails once a table has another number', () => {
    const passes = reproduce('--check', 'one');
    expect([passes.status, passes.stdout]).toEqual([0, 'one: docs/page.md, Page: 1 numbers compared, 0 differ\n']);
    const { commit, seeds, machine, versions, inputs, outputs } = JSON.parse(
      readFileSync(at('out/one/manifest.json'), 'utf8'),
    );
    expect(commit).toMatch(/^[0-9a-f]{40}/);
    expect([seeds, machine.cores > 0, versions.node]).toEqual([[7], true, process.version]);
    expect(outputs['report.md']).toBe(inputs['links/a.csv']);

    writeFileSync(at('docs/page.md'), `# Page\n\n${TABLE.replace('1.5', '1.6')}`);
    const fails = reproduce('--check', 'one');
    expect(fails.status).toBe(1);
    expect(fails.stdout).toContain('one: docs/page.md, Page: a: QoE is 1.6 in the doc, 1.5 now\n');
    expect(reproduce('three').status).toBe(1);
  });

  test('a step that fails does not stop others, and goes on from there the next time', () => {
    writeFileSync(at('docs/page.md'), `# Page\n\n${TABLE}`);
    const fails = reproduce('--check', 'halves', 'one');
    expect(fails.status).toBe(1);
    expect(fails.stderr).toContain('halves: status 4; the same command goes on from there\n');
    expect(fails.stdout).toBe('one: docs/page.md, Page: 1 numbers compared, 0 differ\n');
    const passes = reproduce('--check', 'halves');
    expect([passes.status, passes.stdout]).toEqual([
      0,
      'halves: docs/page.md, Page: 1 numbers compared, and not what needs leocc-digitised, 0 differ\n',
    ]);
  });
});
