/** Reads reports, or their sums from a warehouse, with DuckDB: sums by arm, kind of session, and cluster. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { ClusterSums } from '../../replay/evaluation/cluster-ratios.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { METRICS } from './metrics.ts';
import * as sql from './sums-sql.ts';

export interface ReadOptions {
  /** Files, folders or globs. */
  paths: readonly string[];
  areSums: boolean;
  /** Needed if the files have several trials. */
  trial?: string | undefined;
  threads: number;
}

export interface ArmSums {
  arm: string;
  sessions: number;
  /** Sessions in which the player's own algorithm chose. */
  own: number;
  /** The mean share that was planned for this arm. */
  plannedShare: number;
  perCluster: Float64Array;
  metrics: Record<string, ClusterSums>;
}

export interface TrialSums {
  trial: string;
  /** Rows that do not count, by reason; the most frequent one first. */
  notCounted: { reason: string; rows: number }[];
  arms: ArmSums[];
  /** By kind of session: the arms of those sessions alone. */
  kinds: { name: string; arms: ArmSums[] }[];
}

type Row = Record<string, unknown>;
type Query = (statement: string) => Promise<Row[]>;

const MEMORY = '1200MB';
const ENDING = /\.(ndjson|jsonl|json|parquet|csv)(\.gz|\.zst)?$/;

export async function readSums({ paths, areSums, trial, threads }: ReadOptions): Promise<TrialSums> {
  const { DuckDBInstance } = await loadDuckDb();
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-trial-'));
  const settings = { threads: String(threads), memory_limit: MEMORY, preserve_insertion_order: 'false' };
  const database = await DuckDBInstance.create(join(folder, 'reports.db'), settings);
  const connection = await database.connect();
  try {
    const query: Query = async (statement) => (await connection.runAndReadAll(statement)).getRowObjectsJS();
    const files = await filesOf(query, paths);
    const dropped = areSums ? [] : await loadReports(query, files);
    const sums = areSums ? files.map(sql.typedSums).join(' union all ') : sql.sumsOf('input where reason is null');
    await made(query, `create table cells as ${sums}`, areSums ? ', with the columns of --sql' : '');
    return await trialSums(query, trial, dropped);
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Row[] }>;
  closeSync(): void;
}

/** The part of `@duckdb/node-api` in use: its own types are missing where the package could not be installed. */
interface DuckDb {
  DuckDBInstance: {
    create(file: string, settings: object): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
}

export async function loadDuckDb(name = '@duckdb/node-api'): Promise<DuckDb> {
  try {
    return (await import(name)) as DuckDb;
  } catch (error) {
    throw new InputError('leo-abr trial', `the optional package ${name} (npm install ${name})`, error);
  }
}

async function filesOf(query: Query, paths: readonly string[]): Promise<string[]> {
  const files = new Set<string>();
  for (const path of paths) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    const found = await query(`select file from glob(${sql.quoted(isFolder ? join(path, '**') : path)})`);
    const chosen = found.map(({ file }) => String(file)).filter((file) => !isFolder || ENDING.test(file));
    if (chosen.length === 0) throw new InputError('files', 'files of reports (.ndjson, .jsonl, .parquet)', path);
    for (const file of chosen) files.add(file);
  }
  return [...files];
}

/** Makes a table from files. `shape`: what they must have. */
async function made(query: Query, statement: string, shape = ''): Promise<void> {
  try {
    await query(statement);
  } catch (error) {
    throw new InputError('files', `files that DuckDB can read${shape}`, error);
  }
}

/** Makes the table `input`. Returns queries for what does not count, by reason. */
async function loadReports(query: Query, files: readonly string[]): Promise<string[]> {
  await made(query, `create table input as ${sql.typedReports(files)}`);
  // Of the reports with the same id, one counts.
  await query('create table twice as select key from input where reason is null group by 1 having count(*) > 1');
  const repeated = 'reason is null and key in (select key from twice)';
  await query(
    `update input set reason = 'repeated: a report with the same id was read before' where ${repeated} ` +
      `and rowid not in (select min(rowid) from input where ${repeated} group by key)`,
  );
  const invalid = 'select reason, count(*) as rows from input where reason is not null group by 1';
  const unread = "select 'a line that is too long or not UTF-8' as reason, count(*) as rows from reject_errors";
  return files.every(sql.isParquet) ? [invalid] : [invalid, unread];
}

async function trialSums(query: Query, wanted: string | undefined, dropped: readonly string[]): Promise<TrialSums> {
  const found = await query('select trial from cells where trial is not null group by 1 order by sum(sessions) desc');
  const names = found.map((row) => String(row['trial']));
  const trial = wanted ?? (names.length === 1 ? names[0]! : '');
  if (!names.includes(trial)) {
    const expected = names.length > 0 ? `one of ${names.slice(0, 10).join(', ')}` : 'reports of a trial';
    throw new InputError('--name', expected, wanted);
  }
  const others = `select 'of another trial, or of none' as reason, sum(sessions) as rows from cells
    where trial is distinct from ${sql.quoted(trial)}`;
  const reasons = `select reason, rows::double as rows from (${[...dropped, others].join(' union all ')})`;
  const notCounted = await query(`${reasons} where rows > 0 order by 2 desc, 1`);
  const rows = await query(sql.sumsByKind('cells', trial));
  const clusters = [...new Set(rows.map(({ cluster }) => cluster))];
  const [all, ...kinds] = sortedGroups(rows, 'kind').map(([name, of]) => ({
    name,
    arms: sortedGroups(of, 'arm').map(([arm, ofArm]) => armSums(arm, ofArm, clusters)),
  }));
  return { trial, notCounted: notCounted as TrialSums['notCounted'], arms: all!.arms, kinds };
}

function sortedGroups(rows: readonly Row[], column: string): [string, Row[]][] {
  return [...groupBy(rows, (row) => String(row[column]))].sort(([one], [other]) => (one < other ? -1 : 1));
}

function armSums(arm: string, rows: readonly Row[], clusters: readonly unknown[]): ArmSums {
  const rowOf = new Map(rows.map((row) => [row['cluster'], row]));
  const perCluster = (column: string) => Float64Array.from(clusters, (one) => Number(rowOf.get(one)?.[column] ?? 0));
  const totalOf = (column: string) => perCluster(column).reduce((sum, value) => sum + value, 0);
  const sessions = totalOf('sessions');
  const metrics = METRICS.map(({ id }): [string, ClusterSums] => [
    id,
    { x: perCluster(`sum_x_${id}`), y: perCluster(`sum_y_${id}`), sessions },
  ]);
  return {
    ...{ arm, sessions, own: totalOf('own'), plannedShare: totalOf('planned') / sessions },
    ...{ perCluster: perCluster('sessions'), metrics: Object.fromEntries(metrics) },
  };
}
