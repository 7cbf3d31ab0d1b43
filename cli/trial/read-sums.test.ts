import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { draws } from '../../abr/property.fixture.ts';
import { drawReport, hostileLines } from '../../abr/qoe/session-report.fixture.ts';
import { SESSION_REPORT_FIELDS, type SessionReport, validSessionReport } from '../../abr/qoe/session-report.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { loadDuckDb, type ReadOptions, readSums, type TrialSums } from './read-sums.ts';
import { sumsOf } from './sums-sql.ts';

const at = temporaryFolder('test');

const read = (paths: string[], options: Partial<ReadOptions> = {}) =>
  readSums({ paths, areSums: false, threads: 1, ...options });

function put(name: string, lines: readonly (string | object)[]): string {
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
  const sums = await read([put('a.ndjson', all)]);
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
  const file = put('a.ndjson', reports(400));
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
  put('1.ndjson', [first!, second!, first!, ...others, { ...third!, trial: 'other' }]);
  const forged = [
    ...[{ qoe: 999 }, { qoe: -1e6 }, { perceivedQoe: -1e6 }, { day: '2026-02-31' }],
    { observations: ',', observedFromMs: 2e12 },
  ];
  put('2.ndjson', [second!, 'no report', ...forged.map((change) => ({ ...first!, ...change }))]);
  const sums = await read([at('')], { trial: 'pilot' });
  expect(total(sums.arms.map(({ sessions }) => sessions))).toBe(49);
  expect(Object.fromEntries(sums.notCounted.map(({ reason, rows }) => [reason, rows]))).toEqual({
    'repeated: a report with the same id was read before': 2,
    'of another trial, or of none': 1,
    'not a line of JSON with fields of a report': 1,
    ...{ 'wrong qoe': 2, 'wrong perceivedQoe': 1, 'wrong day': 1, 'wrong observations': 1 },
  });
});

test('reports of older pages count, without perceived QoE and bytes', async () => {
  const old = reports(100).map(({ perceivedQoe: _, receivedBits: __, aboveEnoughBits: ___, ...one }) => one);
  const sums = await read([put('old.ndjson', old)]);
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
  const file = put('hostile.ndjson', [...lines, ...good]);
  expect(lines.filter(isHarmless).length).toBeGreaterThan(20);
  const sums = await read([file]);
  // All harmless lines have the same id.
  expect(total(sums.arms.map(({ sessions }) => sessions))).toBe(1 + good.length);
  expect(total(sums.notCounted.map(({ rows }) => rows))).toBe(lines.length - 1);
  expect(sums.notCounted.length).toBeGreaterThan(20);
  // The reader must go line by line, because DuckDB's reader of JSON fails at JSON over several lines.
  put('hostile.ndjson', ['{', '"version":1,', '"id":"x"}', ...lines, 'z'.repeat(2 ** 21), ...good]);
  const again = await read([file]);
  expect(again.arms.map(({ sessions }) => sessions)).toEqual(sums.arms.map(({ sessions }) => sessions));
  expect(again.notCounted.map(({ reason }) => reason)).toContain('a line that is too long or not UTF-8');
});

/** `REPORTS=10000000 npm run unit -- cli/trial/read-sums -t many` prints the figures of docs/findings.md. */
const REPORTS = Number(process.env['REPORTS'] ?? 6000);

test('reads many reports', async () => {
  const columns = Object.entries(reports(1)[0]!).map(
    ([name, value]) => `${JSON.stringify(value).replaceAll('"', "'")} as "${name}"`,
  );
  const drawn = [
    "format('{:016x}', i) as id",
    "case when i % 6 < 3 then 'own' else 'ours' end as arm",
    '(i // 3 % 1000)::int as cluster',
    'round(random() * 600, 3) as "watchedSeconds"',
  ];
  await runInDuckDb(
    `copy (select * replace (${drawn.join(', ')}) from (select ${columns.join(', ')}), range(${REPORTS}) t(i)) to '${at('many.ndjson')}' (format json)`,
  );
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const sums = await read([at('many.ndjson')], { threads: 2 });
  const [seconds, { user, system }] = [(performance.now() - begun) / 1000, process.cpuUsage(cpu)];
  expect(sums.arms.map(({ sessions }) => sessions)).toEqual(
    [REPORTS / 2, REPORTS / 2].map((half) => expect.closeTo(half, -1)),
  );
  if (REPORTS < 1e6) return;
  const memory = process.resourceUsage().maxRSS / 1e6;
  const text = `${REPORTS} reports: ${seconds.toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of processor time`;
  process.stdout.write(`${text}, at most ${memory.toFixed(1)} GB with Jest\n`);
}, 3_600_000);
