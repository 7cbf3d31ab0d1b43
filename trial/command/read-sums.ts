/** Reads reports, or their sums from a warehouse, with DuckDB, and sums by arm, kind of session and cluster. */

import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../abr/errors.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import type { ClusterSums } from '../../replay/evaluation/statistics/cluster-ratios.ts';
import * as sql from './sums-sql.ts';

/** `paths` are files, folders or globs. `trial` is required if they have several trials. */
export type ReadOptions = { paths: readonly string[]; areSums: boolean; trial?: string | undefined; threads: number };

export type TrialSums = Awaited<ReturnType<typeof trialSums>>;
export type ArmSums = ReturnType<typeof armSums>;
type Row = Record<string, unknown>;
type Query = (statement: string) => Promise<Row[]>;
/** The part of `@duckdb/node-api` in use. The package is optional, so its own types may be missing. */
type DuckDb = { DuckDBInstance: { create(file: string, settings: object): Promise<Database> } };
type Database = { connect(): Promise<DuckConnection>; closeSync(): void };
type DuckConnection = { runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Row[] }>; closeSync(): void };

const ENDING = /\.(ndjson|jsonl|json|parquet|csv)(\.gz|\.zst)?$/;

export async function readSums({ paths, areSums, trial, threads }: ReadOptions): Promise<TrialSums> {
  const { DuckDBInstance } = await loadDuckDb();
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-trial-'));
  const settings = { threads: String(threads), memory_limit: '1200MB', preserve_insertion_order: 'false' };
  const database = await DuckDBInstance.create(join(folder, 'reports.db'), settings);
  const connection = await database.connect();
  try {
    const query: Query = async (statement) => (await connection.runAndReadAll(statement)).getRowObjectsJS();
    const files = await filesOf(query, paths);
    const [table, source] = areSums
      ? ['cells', files.map(sql.typedSums).join(' union all ')]
      : ['input', sql.typedReports(files)];
    await query(`create table ${table} as ${source}`).catch((error) => {
      throw new InputError('files', `files that DuckDB can read${areSums ? ', with the columns of --sql' : ''}`, error);
    });
    return await trialSums(query, trial, areSums ? [] : await sumReports(query, files));
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function loadDuckDb(name = '@duckdb/node-api'): Promise<DuckDb> {
  return import(name).catch((error) => {
    throw new InputError('leo-abr trial', `the optional package ${name} (npm install ${name})`, error);
  });
}

async function filesOf(query: Query, paths: readonly string[]): Promise<string[]> {
  const files = new Set<string>();
  for (const path of paths) {
    const isThere = existsSync(path);
    const isGlob = /[*?[]/.test(path);
    const expected = 'files of reports (.ndjson, .jsonl, .parquet)';
    if (!isThere && !isGlob) throw new InputError('files', expected, undefined, `${path}, which does not exist`);
    const isFolder = isThere && statSync(path).isDirectory();
    const found = await query(`select file from glob(${sql.quoted(isFolder ? join(path, '**') : path)})`);
    const chosen = found.map(({ file }) => String(file)).filter((file) => !isFolder || ENDING.test(file));
    if (chosen.length === 0) throw new InputError('files', expected, undefined, `none in ${path}`);
    for (const file of chosen) files.add(file);
  }
  return [...files];
}

/** Makes the table `cells` of `input`. Returns queries for the number of rows that do not count, by reason. */
async function sumReports(query: Query, files: readonly string[]): Promise<string[]> {
  // A page that is hidden sends a report, and may play on. Its last report has the same id, and the longest time.
  await query(`update input set reason = 'repeated: another report with the same id counts'
    from (select key, arg_max(rowid, (watchedSeconds, -rowid)) as longest from input where reason is null
      group by key having count(*) > 1) as twice
    where input.key = twice.key and input.rowid != twice.longest and reason is null`);
  await query(`create table cells as ${sql.sumsOf('input where reason is null')}`);
  const invalid = 'select reason, count(*) as rows from input where reason is not null group by 1';
  const texts = files.filter((file) => !sql.isParquet(file));
  for (const file of texts) if (file.endsWith('.gz') && existsSync(file)) await requireWhole(file);
  let unlisted = 0;
  for (const file of texts) unlisted += await countUnlisted(file);
  const unread = `select 'a line that is too long or not UTF-8' as reason, count(*) + ${unlisted} as rows from reject_errors`;
  return texts.length === 0 ? [invalid] : [invalid, unread];
}

/** Throws if the end of a file is missing. DuckDB would read the beginning. */
async function requireWhole(file: string): Promise<void> {
  await pipeline(createReadStream(file), createGunzip(), async (chunks) => {
    for await (const _ of chunks);
  }).catch((error) => {
    throw new InputError(file, 'a whole gzip file', error);
  });
}

/** Lines of a text that is not compressed for which DuckDB's buffer is too small. */
async function countUnlisted(file: string): Promise<number> {
  if (!existsSync(file) || statSync(file).size < sql.BUFFER_BYTES) return 0;
  let lines = 0;
  let bytes = 0;
  const end = () => {
    if (bytes >= sql.BUFFER_BYTES) lines++;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const first = chunk.indexOf('\n');
    bytes += first < 0 ? chunk.length : first;
    if (first < 0) continue;
    end();
    bytes = chunk.length - 1 - chunk.lastIndexOf('\n');
  }
  end();
  return lines;
}

/** `notCounted` is sorted by frequency. `kinds` has the arms for the sessions of each kind. */
async function trialSums(query: Query, wanted: string | undefined, dropped: readonly string[]) {
  const found = await query('select trial from cells where trial is not null group by 1 order by sum(sessions) desc');
  const names = found.map((row) => String(row['trial']));
  const trial = wanted ?? (names.length === 1 ? names[0]! : '');
  const others = `select 'of another trial, or of none' as reason, sum(sessions) as rows from cells
    where trial is distinct from ${sql.quoted(trial)}`;
  const reasons = `select reason, rows::double as rows from (${[...dropped, others].join(' union all ')})`;
  const left = await query(`${reasons} where rows > 0 order by 2 desc, 1`);
  const notCounted = left as { reason: string; rows: number }[];
  const counts = notCounted.map(({ reason, rows }) => `${rows} not counted: ${reason}`).join('; ') || 'none';
  const reports = "valid reports of a trial (from pages that pass assignArm's arm to reportSessions)";
  if (names.length === 0) throw new InputError('files', reports, wanted, counts);
  const got = wanted === undefined ? 'none' : undefined;
  if (!names.includes(trial)) throw new InputError('--name', `one of ${names.slice(0, 10).join(', ')}`, wanted, got);
  const rows = await query(sql.sumsByKind('cells', trial));
  const clusters = [...new Set(rows.map(({ cluster }) => cluster))];
  const [all, ...kinds] = [...groupBy(rows, ({ kind }) => String(kind))].map(([name, of]) => ({
    name,
    arms: [...groupBy(of, ({ arm }) => String(arm))].map(([arm, ofArm]) => armSums(arm, ofArm, clusters)),
  }));
  return { trial, notCounted, arms: all!.arms, kinds };
}

/** In `own` sessions, the player's own algorithm chose. `plannedShare` is the mean share planned for the arm. */
function armSums(arm: string, rows: readonly Row[], clusters: readonly unknown[]) {
  const rowOf = new Map(rows.map((row) => [row['cluster'], row]));
  const perCluster = (column: string) => Float64Array.from(clusters, (one) => Number(rowOf.get(one)?.[column] ?? 0));
  const totalOf = (column: string) => perCluster(column).reduce((sum, value) => sum + value, 0);
  const sessions = totalOf('sessions');
  const metrics: Record<string, ClusterSums> = Object.fromEntries(
    sql.METRICS.map(({ id }) => [id, { x: perCluster(`sum_x_${id}`), y: perCluster(`sum_y_${id}`), sessions }]),
  );
  const plannedShare = totalOf('planned') / sessions;
  return { arm, sessions, own: totalOf('own'), plannedShare, perCluster: perCluster('sessions'), metrics };
}
