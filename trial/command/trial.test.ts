import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { draws } from '../../abr/property.fixture.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { refused, run } from '../../cli/shared/run.fixture.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { drawReport, hostileLines } from '../session-report.fixture.ts';
import { SESSION_REPORT_FIELDS, type SessionReport, validSessionReport } from '../session-report.ts';
import { loadDuckDb, type ReadOptions, readSums, type TrialSums } from './read-sums.ts';
import { sumsOf } from './sums-sql.ts';

const at = temporaryFolder('test');

const trial = (...args: string[]) => run(['trial', ...args]);

/** Adds seconds of startup to the reports of the arm `ours`. */
const slower = (seconds: number) => (report: SessionReport) => ({
  ...report,
  ...(report.arm === 'ours' && { startupSeconds: report.startupSeconds + seconds }),
});

/** Writes reports into two files of a folder. Returns the folder. */
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
    /^With `ours` instead of `own`, it is certain that perceived QoE is [345]\.\d % higher \(better\), QoE-linear is (19|2\d)\.\d % higher \(better\), stalled share is \d\d\.\d % lower \(better\) and QoE-linear of the first minute [^;:]*\. (?:If you look only this once: [^;:]*\. )?No difference was found in egress and watch time\.$/m,
  );
  // QoE is higher by 2.
  const [, low, high] = /^perceived QoE, 0 to 100 .*? \+\S+ \(\+(\S+) to \+(\S+)\)/m.exec(stdout)!;
  expect(Number(low)).toBeLessThan(2);
  expect(Number(high)).toBeGreaterThan(2);
  expect(stdout).toMatch(/^player: hls\.js +\d+ /m);
  expect(stdout).toMatch(/^perceived QoE, 0 to 100 +(\d+ *){4}$/m);
  expect(stdout).not.toContain('instead of 50.0 %');
  const page = readFileSync(at('out', 'index.html'), 'utf8');
  expect(page).toContain('<h1>Trial pilot</h1>');
  expect(readFileSync(at('out', 'report.md'), 'utf8')).toContain('| metric | own | ours | difference |');
});

test('finds the kinds of sessions in which the difference is another one', async () => {
  const folder = putReports(6000, ({ perceivedQoe, ...report }) => {
    const lossOfOurs = report.browser === 'webkit' && report.arm === 'ours' ? 4 : 0;
    return { ...report, ...(perceivedQoe !== undefined && { perceivedQoe: perceivedQoe - lossOfOurs }) };
  });
  const { stdout } = await trial(folder);
  const intervalOf = (kind: string) => new RegExp(`^${kind} +\\d+ +\\S+ \\((\\S+) to (\\S+)\\)`, 'm').exec(stdout)!;
  expect(intervalOf('browser: webkit')[2]).toMatch(/^−/);
  expect(intervalOf('browser: firefox')[1]).toMatch(/^\+/);
  expect(intervalOf('player: shaka')).not.toBeNull();
});

test('warns of lost reports, leaves out arms with too few sessions, and says what the arms cost in egress', async () => {
  const bits = { own: 4e9, ours: 2e9 } as Record<string, number>;
  let number = 0;
  const folder = putReports(2000, (one) => {
    number++;
    if (number < 4) return { ...one, arm: 'third' };
    const requested = { requestedBits: 1e9, wastedBits: 0, receivedBits: bits[one.arm!]! * (0.9 + 0.1 * (number % 3)) };
    const report = { ...one, watchedSeconds: 3600, ...requested };
    return report.arm === 'ours' && number % 4 === 0 ? { ...report, version: 0 } : report;
  });
  const { stdout } = await trial(folder);
  expect(stdout).toMatch(/- `ours` has 4\d\.\d % of the sessions instead of 50\.0 %, which is not chance/);
  expect(stdout).toContain('- `third`: 3 sessions, too few, left out');
  expect(stdout).toMatch(/- \d+ not counted: wrong version/);
  // Egress leads, beside perceived QoE.
  expect(stdout).toMatch(
    /that perceived QoE is [^,]*, (?:49|50)\.\d % less data is sent \(better: −5\d\.\d to −4\d\.\d\), /,
  );
  expect(stdout).toMatch(
    /^perceived QoE.*\negress, GB per hour watched +0\.\d+ +0\.\d+ +−0\.\d+ \(.*\) +−(?:49|50)\.\d \(−5\d\.\d to −4/m,
  );
});

test('compares with the arm of --control, each arm in turn', async () => {
  const folder = putReports(3000, (report) => ({
    ...report,
    ...{ armShare: 1 / 3, arm: report.arm === 'own' ? 'own' : report.cluster! % 2 ? 'bold' : 'ours' },
  }));
  const { stdout } = await trial(folder, '--control', 'bold');
  expect(stdout).toContain('## ours against bold');
  expect(stdout).toMatch(
    /^With `own` instead of `bold`, it is certain that perceived QoE is \d+\.\d % lower \(worse\)/m,
  );
});

test('names each figure that differs, and leads with QoE-linear where older reports have no perceived QoE', async () => {
  // A figure below 0 has no percentage.
  const folder = putReports(4000, ({ perceivedQoe: _, qoe, ...report }) =>
    slower(0.5)({ ...report, ...(qoe !== undefined && { qoe: qoe - 20 }) } as SessionReport),
  );
  const { stdout } = await trial(folder);
  expect(stdout).toMatch(
    /^With `ours` instead of `own`, it is certain that QoE-linear is [12]\.\d\d higher \(better\), .* startup is (?:29|3\d)\.\d % higher \(worse\)/m,
  );
  expect(stdout).not.toContain('perceived');
});

test('says what cannot be said yet of few sessions', async () => {
  const { stdout } = await trial(putReports(60, (report) => ({ ...report, watchedSeconds: 4 })));
  expect(stdout).toMatch(/^startup, s .*not yet: too few viewers$/m);
  // Watch times do not differ, so they have no row. Other rows have at least the sessions of a comparison.
  const needed = /### Sessions needed([\s\S]*?)##/.exec(stdout)![1]!;
  expect(needed).not.toContain('watch time');
  const counts = [...needed.matchAll(/ {2}(\d+)/g)].map(([, count]) => Number(count));
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(16);
  const few = trial(putReports(16, (report) => ({ ...report, cluster: 1 })));
  await refused(few, /: expected the control and another arm, with 8 sessions of two viewers each, got .*: wait for/);
});

const KEPT = /^No guard is broken for certain \(trial pilot\): stalled share of ours is −\S+ % of 1?\d\.\d+ .*\.\n$/;
const BROKEN =
  /^A guard is broken for certain \(trial pilot\): startup of ours is \+0\.\d+ s of 1\.\d+ \(guard: startup <= \+0\.1 s\)\.\n$/;
test.each<[string, number, number, number, RegExp]>([
  ['holds', 4000, 0, 0, KEPT],
  ['is broken for certain, and alone named', 2000, 0.5, 3, BROKEN],
  ['is in doubt', 1000, 0.12, 0, /^(?!A guard)/],
  ['has too few sessions', 8, 0, 0, /^No guard of the trial pilot can be checked yet: too few sessions\.\n$/],
  ['has too few viewers', 40, 9, 0, /\(guard: startup <= \+0\.1 s, too few viewers yet\)/],
])('a guard that %s', async (_, count, slowerSeconds, expected, message) => {
  const guards = 'stalled share <= +5 %, startup <= +0.1 s, watch time >= -1 %';
  const { status, stdout } = await trial(putReports(count, slower(slowerSeconds)), '--guard', guards);
  expect({ status, stdout }).toEqual({ status: expected, stdout: expect.stringMatching(message) });
});

test('--check says what a configuration does, or where it is wrong', async () => {
  const example = fileURLToPath(new URL('../../examples/plain/trial.json', import.meta.url));
  const { status, stdout } = await trial('--check', example);
  expect(stdout).toMatch(/^The trial \S+ assigns player 99 %, mpc-l 1 %; the plugin's options are \{.*\}\.\n$/);
  expect(status).toBe(0);
  const config = { ...JSON.parse(readFileSync(example, 'utf8')), enabled: false };
  const checked = (change: object | string) => {
    writeFileSync(at('trial.json'), typeof change === 'string' ? change : JSON.stringify({ ...config, ...change }));
    return trial('--check', at('trial.json'));
  };
  expect((await checked({})).stdout).toContain('is switched off (new sessions play without the plugin), else assigns');
  for (const [change, message] of [
    [{ shares: { player: 0.5, a: 0.4 } }, 'trial.json: config.shares: expected shares of player and one or two other'],
    [{ options: { risk: 2 } }, 'trial.json: config.options.risk: expected a number from 0 to 1, got 2'],
    [{ enable: true }, 'trial.json: config.enable: expected one of schema, enabled, trial, shares, options'],
    ['{', 'trial.json: expected JSON'],
  ] as const) {
    await refused(checked(change), message);
  }
  await refused(trial('--check', at('none.json')), '--check: expected a readable file');
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
  [['nowhere/*.ndjson'], 'files: expected files of reports (.ndjson, .jsonl, .parquet), got none in nowhere/*.ndjson'],
  [['nowhere'], 'files: expected files of reports (.ndjson, .jsonl, .parquet), got nowhere, which does not exist'],
  [['x'.repeat(300)], 'files: expected files of reports (.ndjson, .jsonl, .parquet), got xxx'],
  [['reports/cut.ndjson.gz'], 'cut.ndjson.gz: expected a whole gzip file, got unexpected end of file'],
  [['reports/notes.txt'], 'to reportSessions), got 1 not counted: not a line of JSON'],
  [['--name', 'other', 'reports'], '--name: expected one of pilot, got "other"'],
  [['--control', 'theirs', 'reports'], '--control: expected an arm of the trial pilot: ours, own, got "theirs"'],
  [
    ['--guard', 'startup <= fast', 'reports'],
    '--guard: expected guards like "startup <= +0.1 s, watch time >= -1 %", got',
  ],
  [
    ['--guard', 'speed <= +1 %', 'reports'],
    '--guard: expected one of perceived QoE, egress, QoE-linear, stalled share',
  ],
  [['--guard', 'startup <= +1 ms', 'reports'], '--guard: expected % or s after the number of startup, got "ms"'],
  [['--guard', 'startup <= +1 s', '--out', 'x', 'reports'], '--out: expected no --guard beside it, got "x"'],
])('rejects %j with status 2', async (flags, message) => {
  const folder = putReports(40);
  if (flags[0]?.endsWith('.gz'))
    put(at(flags[0]), gzipSync(readFileSync(at('reports/reports-1.ndjson'))).subarray(0, -99));
  await refused(trial(...flags.map((flag) => flag.replace(/^reports/, folder))), message);
});

const read = (paths: string[], options: Partial<ReadOptions> = {}) =>
  readSums({ paths, areSums: false, threads: 1, ...options });

function putLines(name: string, lines: readonly (string | object)[]): string {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(at(name), `${text.join('\n')}\n`);
  return at(name);
}

function reports(count: number, seed = 1): SessionReport[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, i) => validSessionReport(drawReport(i, random)));
}

async function runInDuckDb(...statements: string[]): Promise<void> {
  const { DuckDBInstance } = await loadDuckDb();
  const settings = { memory_limit: '1000MB', preserve_insertion_order: 'false' };
  const database = await DuckDBInstance.create(':memory:', settings);
  const connection = await database.connect();
  for (const statement of statements) await connection.runAndReadAll(statement);
  connection.closeSync();
  database.closeSync();
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

test('sums of reports are those of the sessions, by arm, cluster and kind', async () => {
  const all = reports(500);
  const sums = await read([putLines('a.ndjson', all)]);
  expect(sums).toMatchObject({ trial: 'pilot', notCounted: [] });
  expect(sums.arms.map(({ arm }) => arm)).toEqual(['ours', 'own']);
  for (const { arm, sessions, own, perCluster, plannedShare, metrics } of sums.arms) {
    const of = all.filter((report) => report.arm === arm);
    expect({ sessions, plannedShare }).toEqual({ sessions: of.length, plannedShare: 0.5 });
    expect(own).toBe(arm === 'own' ? of.length : 0);
    expect([...perCluster].filter((count) => count > 0)).toHaveLength(new Set(of.map(({ cluster }) => cluster)).size);
    const started = of.filter((report) => report.started);
    const live = started.filter((report) => report.live);
    const first60 = (seconds: number) => Math.min(60, seconds);
    const expected: Record<string, [SessionReport[], (report: SessionReport) => [x: number, y: number]]> = {
      perceived: [started, ({ watchedSeconds: x, perceivedQoe }) => [x, x * perceivedQoe!]],
      egress: [of, ({ watchedSeconds, receivedBits }) => [watchedSeconds, 3600 * (receivedBits! / 8e9)]],
      wasted: [of, ({ receivedBits, wastedBits }) => [receivedBits!, 100 * wastedBits]],
      above: [of, ({ receivedBits, aboveEnoughBits }) => [receivedBits!, 100 * aboveEnoughBits!]],
      qoe: [started, ({ watchedSeconds, qoe }) => [watchedSeconds, watchedSeconds * qoe!]],
      minute: [started, ({ watchedSeconds: x, qoeFirst60Seconds: y }) => [first60(x), first60(x) * y!]],
      stalled: [of, ({ watchedSeconds, stallSeconds }) => [watchedSeconds + stallSeconds, 100 * stallSeconds]],
      startup: [started, ({ startupSeconds }) => [1, startupSeconds]],
      unstarted: [of, ({ started }) => [1, started ? 0 : 100]],
      bitrate: [started, ({ watchedSeconds: x, meanBitrateBps }) => [x, (x * meanBitrateBps!) / 1e6]],
      watched: [of, ({ watchedSeconds }) => [1, watchedSeconds]],
      latency: [live, ({ watchedSeconds: x, latencySeconds }) => [x, x * latencySeconds!]],
    };
    expect(Object.keys(metrics).sort()).toEqual(Object.keys(expected).sort());
    for (const [metric, [counted, pairOf]] of Object.entries(expected)) {
      const pairs = counted.map(pairOf);
      for (const [i, of] of (['x', 'y'] as const).entries()) {
        const sum = total(pairs.map((pair) => pair[i]!));
        expect(Math.abs(total([...metrics[metric]![of]]) - sum)).toBeLessThanOrEqual(1e-9 * Math.abs(sum) + 1e-12);
      }
    }
  }
  const kinds = sums.kinds.map(({ name, arms }) => [name, total(arms.map((arm) => arm.sessions))]);
  const count = (holds: (report: SessionReport) => boolean) => all.filter(holds).length;
  const by = (field: 'player' | 'browser', ...names: string[]) =>
    Object.fromEntries(names.map((name) => [`${field}: ${name}`, count((report) => report[field] === name)]));
  expect(Object.fromEntries(kinds)).toEqual({
    'rhythm: none': count(({ rhythm }) => rhythm === false),
    'rhythm: found': count(({ rhythm }) => rhythm === true),
    'rhythm: not known': count(({ rhythm }) => rhythm === undefined),
    'live: on demand': count(({ live }) => !live),
    'live: live': count(({ live }) => live),
    ...by('player', 'dash.js', 'hls.js', 'shaka'),
    ...by('browser', 'chromium', 'firefox', 'webkit'),
  });
});

test('sums of reports are the same from Parquet files of several types, and from sums of a warehouse', async () => {
  const file = putLines('a.ndjson', reports(400));
  await runInDuckDb(
    `create table reports as select * from read_json('${file}')`,
    `copy reports to '${at('a.parquet')}' (format parquet)`,
    `create table sums as ${sumsOf('reports')}`,
    ...['s.csv', 's.parquet', 's.json'].map((name) => `copy sums to '${at(name)}'`),
  );
  const expected = await read([file]);
  const rounded = (sums: TrialSums) =>
    JSON.parse(
      JSON.stringify(sums, (key, value) => {
        if (key === 'perCluster' || key === 'x' || key === 'y')
          return [...(value as Float64Array)].sort((a, b) => a - b).map((one) => +one.toPrecision(9));
        return typeof value === 'number' ? +value.toPrecision(9) : value;
      }),
    );
  expect(rounded(await read([at('a.parquet')]))).toEqual(rounded(expected));
  for (const name of ['s.csv', 's.parquet', 's.json']) {
    expect(rounded(await read([at(name)], { areSums: true }))).toEqual(rounded(expected));
  }
});

test('sums of reports count a repeated report once, and name what does not count', async () => {
  const [first, second, third, ...others] = reports(50);
  putLines('1.ndjson', [first!, second!, first!, ...others, { ...third!, trial: 'other' }]);
  // The last line is longer than DuckDB's buffer.
  const unread = ['x'.repeat(2e6), 'x'.repeat(2 ** 24 + 1)];
  const forged = [
    ...[{ qoe: 999 }, { qoe: -1e6 }, { perceivedQoe: -1e6 }, { day: '2026-02-31' }],
    { observations: ',', observedFromMs: 2e12 },
  ];
  putLines('2.ndjson', [second!, 'no report', ...forged.map((change) => ({ ...first!, ...change })), ...unread]);
  const sums = await read([at('')], { trial: 'pilot' });
  expect(total(sums.arms.map(({ sessions }) => sessions))).toBe(49);
  expect(Object.fromEntries(sums.notCounted.map(({ reason, rows }) => [reason, rows]))).toEqual({
    'repeated: another report with the same id counts': 2,
    'of another trial, or of none': 1,
    'not a line of JSON with fields of a report': 1,
    'a line that is too long or not UTF-8': 2,
    ...{ 'wrong qoe': 2, 'wrong perceivedQoe': 1, 'wrong day': 1, 'wrong observations': 1 },
  });
});

test('of reports with the same id, the longest counts, in any order', async () => {
  const all = reports(50);
  const expected = await read([putLines('whole.ndjson', all)]);
  const partial = all.map((one) => ({ ...one, watchedSeconds: one.watchedSeconds * 0.9 }));
  const sums = await read([putLines('both.ndjson', [...partial.slice(25), ...all, ...partial.slice(0, 25)])]);
  expect(sums.arms.map(({ metrics }) => metrics['watched'])).toEqual(
    expected.arms.map(({ metrics }) => metrics['watched']),
  );
});

test('reports of older pages count, without perceived QoE and bytes', async () => {
  const old = reports(100).map(({ perceivedQoe: _, receivedBits: __, aboveEnoughBits: ___, ...one }) => one);
  const sums = await read([putLines('old.ndjson', old)]);
  expect(sums.notCounted).toEqual([]);
  for (const { metrics } of sums.arms) {
    for (const name of ['perceived', 'egress', 'wasted', 'above']) expect(total([...metrics[name]!.x])).toBe(0);
    expect(total([...metrics['qoe']!.x])).toBeGreaterThan(0);
  }
});

test('without DuckDB, the error says how to install it', async () => {
  const message = 'expected the optional package @duckdb/not-there (npm install @duckdb/not-there), got';
  await expect(loadDuckDb('@duckdb/not-there')).rejects.toThrow(message);
});

/** Tells whether a line is valid without its null and unknown fields, which sums ignore. */
function isHarmless(line: string): boolean {
  try {
    const fields = Object.entries(JSON.parse(line)).filter(([name]) => Object.hasOwn(SESSION_REPORT_FIELDS, name));
    validSessionReport(Object.fromEntries(fields.filter(([, value]) => value !== null)));
    return true;
  } catch {
    return false;
  }
}

test('of many hostile rows none that is invalid counts, and each has a reason', async () => {
  const lines = hostileLines(draws(10_000), 11);
  const good = reports(100, 3);
  const file = putLines('hostile.ndjson', [...lines, ...good]);
  const harmless = lines.filter(isHarmless);
  expect(harmless.length).toBeGreaterThan(20);
  const sums = await read([file]);
  expect(sums.notCounted.find(({ reason }) => reason.startsWith('repeated'))?.rows).toBe(harmless.length - 1);
  // All harmless lines have the same id.
  expect(total(sums.arms.map(({ sessions }) => sessions))).toBe(1 + good.length);
  expect(total(sums.notCounted.map(({ rows }) => rows))).toBe(lines.length - 1);
  expect(sums.notCounted.length).toBeGreaterThan(20);
  // The reader must go line by line, because DuckDB's reader of JSON fails at JSON over several lines.
  putLines('hostile.ndjson', ['{', '"version":1,', '"id":"x"}', ...lines, 'z'.repeat(2 ** 21), ...good]);
  const again = await read([file]);
  expect(again.arms.map(({ sessions }) => sessions)).toEqual(sums.arms.map(({ sessions }) => sessions));
  expect(again.notCounted.map(({ reason }) => reason)).toContain('a line that is too long or not UTF-8');
});
