/** Reads reports, or their sums from a warehouse, with DuckDB: sums by arm, kind of session, and cluster or day. */

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
  /** They hold sums already. */
  areSums: boolean;
  /** Needed if the files have several trials. */
  trial?: string | undefined;
  /** What is independent of each other. */
  by: 'cluster' | 'day';
  threads: number;
}

export interface ArmSums {
  arm: string;
  sessions: number;
  /** Sessions in which the player's own algorithm chose. */
  own: number;
  /** Least and greatest share that was planned for this arm. */
  plannedShares: [number, number];
  /** Sessions by cluster or day. */
  perUnit: Float64Array;
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
/** Runs a statement. */
type Query = (statement: string) => Promise<Row[]>;

/** More goes to temporary files. */
const MEMORY = '1200MB';
const ENDING = /\.(ndjson|jsonl|json|parquet|csv)(\.gz|\.zst)?$/;

export async function readSums(options: ReadOptions): Promise<TrialSums> {
  const { DuckDBInstance } = await loadDuckDb();
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-trial-'));
  const settings = { threads: String(options.threads), memory_limit: MEMORY, preserve_insertion_order: 'false' };
  const database = await DuckDBInstance.create(join(folder, 'reports.db'), settings);
  const connection = await database.connect();
  try {
    const query: Query = async (statement) => (await connection.runAndReadAll(statement)).getRowObjectsJS();
    await load(query, await filesOf(query, options.paths), options);
    return await trialSums(query, options);
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The part of `@duckdb/node-api` in use: its own types are missing where the package could not be installed. */
interface DuckDb {
  DuckDBInstance: {
    create(
      file: string,
      settings: Record<string, string>,
    ): Promise<{
      connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Row[] }>; closeSync(): void }>;
      closeSync(): void;
    }>;
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

/** Makes the tables `cells`, with sums, and `dropped`, with the numbers of what does not count. */
async function load(query: Query, files: readonly string[], { areSums, by }: ReadOptions): Promise<void> {
  try {
    await query('create table dropped (reason varchar, rows double)');
    if (!areSums) await loadReports(query, files);
    const sums = areSums
      ? files.map(sql.typedSums).join(' union all ')
      : sql.sumsOf('input where reason is null', ['trial', 'arm', by]);
    await query(`create table cells as ${sums}`);
  } catch (error) {
    throw new InputError('files', `files that DuckDB can read${areSums ? ', with the columns of --sql' : ''}`, error);
  }
}

async function loadReports(query: Query, files: readonly string[]): Promise<void> {
  const lines = files.filter((file) => !file.endsWith('.parquet'));
  const raw = lines.length > 0 ? [sql.linesAsJson(lines)] : [];
  for (const file of files.filter((one) => !lines.includes(one))) {
    const columns = await query(`describe select * from ${sql.quoted(file)}`);
    raw.push(sql.parquetAsJson(file, new Set(columns.map((column) => String(column['column_name'])))));
  }
  await query(`create table input as ${sql.typedReports(raw.join(' union all by name '))}`);
  // Of the reports with the same id, one counts.
  await query('create table twice as select key from input where reason is null group by 1 having count(*) > 1');
  const repeated = 'reason is null and key in (select key from twice)';
  await query(
    `update input set reason = 'repeated: a report with the same id was read before' where ${repeated} ` +
      `and rowid not in (select min(rowid) from input where ${repeated} group by key)`,
  );
  await query('insert into dropped select reason, count(*) from input where reason is not null group by 1');
  if (lines.length === 0) return;
  await query("insert into dropped select 'a line that is too long or not UTF-8', count(*) from reject_errors");
}

async function trialSums(query: Query, { trial: wanted, by }: ReadOptions): Promise<TrialSums> {
  const found = await query(
    'select trial from cells where trial is not null group by 1 order by sum(sessions) desc, 1',
  );
  const names = found.map((row) => String(row['trial']));
  const trial = wanted ?? (names.length === 1 ? names[0]! : '');
  if (!names.includes(trial)) {
    const expected = names.length > 0 ? `one of ${names.slice(0, 10).join(', ')}` : 'reports of a trial';
    throw new InputError('--name', expected, wanted);
  }
  const others = `sum(sessions) from cells where trial is distinct from ${sql.quoted(trial)}`;
  await query(`insert into dropped select 'of another trial, or of none', ${others}`);
  const dropped = 'select reason, sum(rows) as rows from dropped where rows > 0 group by 1 order by 2 desc, 1';
  const notCounted = (await query(dropped)) as TrialSums['notCounted'];
  const rows = await query(sql.sumsByKind('cells', by, trial));
  const units = new Map([...new Set(rows.map(({ unit }) => unit))].map((unit, number) => [unit, number]));
  const byKind = groupBy(rows, ({ kind }) => String(kind));
  const [[, all] = [], ...kinds] = [...byKind].sort(([one], [other]) => (one < other ? -1 : 1));
  const kindSums = kinds.map(([name, of]) => ({ name, arms: armsOf(of, units) }));
  return { trial, notCounted, arms: armsOf(all!, units), kinds: kindSums };
}

/** The sums of each arm, by name. `units`: the number of each cluster or day. */
function armsOf(rows: readonly Row[], units: ReadonlyMap<unknown, number>): ArmSums[] {
  const arms = [...groupBy(rows, ({ arm }) => String(arm))].sort(([one], [other]) => (one < other ? -1 : 1));
  return arms.map(([arm, of]) => {
    const valuesOf = (column: string) => of.map((row) => Number(row[column] ?? 0));
    const totalOf = (column: string) => valuesOf(column).reduce((sum, value) => sum + value, 0);
    const byUnit = (column: string) => {
      const sums = new Float64Array(units.size);
      for (const row of of) sums[units.get(row['unit'])!]! += Number(row[column] ?? 0);
      return sums;
    };
    const metrics = METRICS.map(({ id }): [string, ClusterSums] => {
      const [xx, xy, yy] = ['xx', 'xy', 'yy'].map((sum) => totalOf(`sum_${sum}_${id}`)) as [number, number, number];
      return [id, { x: byUnit(`sum_x_${id}`), y: byUnit(`sum_y_${id}`), sessions: totalOf(`n_${id}`), xx, xy, yy }];
    });
    return {
      ...{ arm, sessions: totalOf('sessions'), own: totalOf('own'), perUnit: byUnit('sessions') },
      plannedShares: [Math.min(...valuesOf('least_share')), Math.max(...valuesOf('greatest_share'))],
      metrics: Object.fromEntries(metrics),
    };
  });
}
