import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { drawReport } from '../../abr/qoe/session-report.fixture.ts';
import type { SessionReport } from '../../abr/qoe/session-report.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { refused, run } from '../shared/run.fixture.ts';

const at = temporaryFolder('test');

const trial = (...args: string[]) => run(['trial', ...args]);

/** Reports in two files of a folder; returns the folder. */
function putReports(count: number, change = (report: SessionReport): object => report): string {
  const random = seededRandom(8);
  const lines = Array.from({ length: count }, (_, i) => JSON.stringify(change(drawReport(i, random))));
  put(at('reports', 'reports-1.ndjson'), lines.slice(0, count / 2).join('\n'));
  put(at('reports', 'reports-2.ndjson'), lines.slice(count / 2).join('\n'));
  put(at('reports', 'notes.txt'), 'not of the trial');
  return at('reports');
}

test('says what the arms differ in, and writes the comparison as a page', async () => {
  const { status, stdout, stderr } = await trial(putReports(4000), '--out', at('out'));
  expect({ status, stderr }).toEqual({ status: 0, stderr: `index.html and report.md in ${at('out')}\n` });
  expect(stdout).toMatch(
    /^With `ours` instead of `own`, QoE is (19|2\d)\.\d % higher \(better\) and time stalled is \d\d\.\d % lower \(better\), whenever one looks; no difference was found in watch time\.$/m,
  );
  // QoE is higher by 2.
  const [, low, high] = /^QoE .*? \+\S+ \(\+(\S+) to \+(\S+)\)/m.exec(stdout)!;
  expect(Number(low)).toBeLessThan(2);
  expect(Number(high)).toBeGreaterThan(2);
  expect(stdout).toMatch(/^player: hls\.js +\d+ /m);
  expect(stdout).toMatch(/^QoE +(\d+ *){4}$/m);
  expect(stdout).not.toContain('instead of 50.0 %');
  const page = readFileSync(at('out', 'index.html'), 'utf8');
  expect(page).toContain('<h1>Trial pilot</h1>');
  expect(readFileSync(at('out', 'report.md'), 'utf8')).toContain('| metric | own | ours | difference |');
});

test('finds the kinds of sessions in which the difference is another one', async () => {
  const folder = putReports(6000, (report) => ({
    ...report,
    ...(report.qoe !== undefined && report.browser === 'webkit' && report.arm === 'ours' && { qoe: report.qoe - 4 }),
  }));
  const { stdout } = await trial(folder);
  const intervalOf = (kind: string) => new RegExp(`^${kind} +\\d+ +\\S+ \\((\\S+) to (\\S+)\\)`, 'm').exec(stdout)!;
  expect(intervalOf('browser: webkit')[2]).toMatch(/^−/);
  expect(intervalOf('browser: firefox')[1]).toMatch(/^\+/);
  expect(intervalOf('player: shaka')).not.toBeNull();
});

test('warns of lost reports, and leaves out arms with too few sessions', async () => {
  let number = 0;
  const folder = putReports(4000, (report) => {
    number++;
    if (number < 4) return { ...report, arm: 'third' };
    return report.arm === 'ours' && number % 4 === 0 ? { ...report, version: 0 } : report;
  });
  const { stdout } = await trial(folder);
  expect(stdout).toMatch(/- `ours` has 4\d\.\d % of the sessions instead of 50\.0 %, which is not chance/);
  expect(stdout).toContain('- `third`: 3 sessions, too few, left out');
  expect(stdout).toMatch(/- \d+ not counted: wrong version/);
});

test('compares with the arm of --control, each arm in turn', async () => {
  const folder = putReports(3000, (report) => ({
    ...report,
    ...{ armShare: 1 / 3, arm: report.arm === 'own' ? 'own' : report.cluster! % 2 ? 'bold' : 'ours' },
  }));
  const { stdout } = await trial(folder, '--control', 'bold');
  expect(stdout).toContain('## ours against bold');
  expect(stdout).toMatch(/^With `own` instead of `bold`, QoE is \d+\.\d % lower \(worse\)/m);
});

test('prints the SQL of the sums, which it reads', async () => {
  const { stdout } = await trial('--sql', 'events.sessions');
  expect(stdout).toContain('from events.sessions\n');
  expect(stdout).toContain('group by trial, arm, cluster, rhythm_kind, player_kind, live_kind, browser_kind');
  writeFileSync(at('sums.csv'), 'trial,arm\npilot,own\n');
  const message = /files: expected files that DuckDB can read, with the columns of --sql, got .*cluster/;
  await refused(trial('--sums', at('sums.csv')), message);
});

test.each<[string[], string]>([
  [[], 'files: expected files, folders or globs of reports, got none'],
  [['nowhere/*.ndjson'], 'files: expected files of reports (.ndjson, .jsonl, .parquet), got "nowhere/*.ndjson"'],
  [['reports/notes.txt'], 'files: expected valid reports of a trial, got 1 not counted: not a line of JSON'],
  [['--name', 'other', 'reports'], '--name: expected one of pilot, got "other"'],
  [
    ['--control', 'theirs', 'reports'],
    '--control: expected it and another arm, with eight sessions of two clusters each',
  ],
])('rejects %j with status 2', async (flags, message) => {
  const folder = putReports(40);
  await refused(trial(...flags.map((flag) => flag.replace(/^reports/, folder))), message);
});
