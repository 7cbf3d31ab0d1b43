/** Reads reports, or their sums from a warehouse, into sums by arm, kind of session and cluster. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { ClusterSums } from '../../replay/evaluation/cluster-ratios.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { type Database, openDatabase } from './duckdb.ts';
import { GROUPS, METRICS } from './metrics.ts';
import * as sql from './sums-sql.ts';

export interface ReadOptions {
  /** Files, folders or globs. */
  paths: readonly string[];
  /** They have sums already. */
  areSums: boolean;
  /** The trial; needed if the files have several. */
  trial?: string | undefined;
  /** First and last day, inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  /** What is independent of each other. */
  by: 'cluster' | 'day';
  threads: number;
  memoryMb: number;
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
  groups: { title: string; value: string; arms: ArmSums[] }[];
}

/** Reasons beside those of a wrong report. */
const REPEATED = 'repeated: a report with the same id was read before';
const OTHER_DAY = 'of a day outside --from and --to';
const OTHER_TRIAL = 'of another trial, or of none';
const LONG_LINE = 'a line that is too long or not UTF-8';

export async function readSums(options: ReadOptions): Promise<TrialSums> {
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-trial-'));
  let database: Database | undefined;
  try {
    database = await openDatabase(join(folder, 'reports.db'), options);
    const files = await filesOf(database, options.paths);
    if (options.areSums) await loadSums(database, files, options);
    else await loadReports(database, files, options);
    return await trialSums(database, options);
  } finally {
    database?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Format = 'lines' | 'parquet' | 'csv';

/** The files by format; those of a folder by their endings, named ones are of lines if they have another ending. */
async function filesOf(database: Database, paths: readonly string[]): Promise<Record<Format, string[]>> {
  const files: Record<Format, Set<string>> = { lines: new Set(), parquet: new Set(), csv: new Set() };
  for (const path of paths) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    const found = await database.rows(`select file from glob(${sql.quoted(isFolder ? join(path, '**') : path)})`);
    const known = /\.(ndjson|jsonl|json|parquet|csv)(\.gz|\.zst)?$/;
    const chosen = found.map(({ file }) => String(file)).filter((file) => !isFolder || known.test(file));
    if (chosen.length === 0) throw new InputError('files', 'files of reports (.ndjson, .jsonl, .parquet)', path);
    for (const file of chosen) {
      const ending = known.exec(file)?.[1];
      files[ending === 'parquet' || ending === 'csv' ? ending : 'lines'].add(file);
    }
  }
  return { lines: [...files.lines], parquet: [...files.parquet], csv: [...files.csv] };
}

/** Fills the table `cells` from reports, and `dropped` with the numbers of those that do not count. */
async function loadReports(database: Database, files: Record<Format, string[]>, options: ReadOptions): Promise<void> {
  if (files.csv.length > 0) throw new InputError('files', 'reports as NDJSON or Parquet', files.csv[0]);
  await database.rows(`create table reports as ${sql.typedReports(sql.noReports())}`);
  await database.rows('create table dropped (reason varchar, rows ubigint)');
  if (files.lines.length > 0) {
    try {
      await database.rows(`insert into reports ${sql.typedReports(sql.linesAsJson(files.lines))}`);
    } catch {
      // JSON over several lines, or a line of many megabytes: read line by line, which is slower.
      await readable('reports', () =>
        database.rows(`insert into reports ${sql.typedReports(sql.linesAsText(files.lines))}`),
      );
      await database.rows(`insert into dropped select ${sql.quoted(LONG_LINE)}, count(*) from reject_errors`);
    }
  }
  for (const file of files.parquet) {
    await readable(file, async () => {
      const raw = sql.columnsAsJson(file, await columnsOf(database, `read_parquet(${sql.quoted(file)})`));
      await database.rows(`insert into reports ${sql.typedReports(raw)}`);
    });
  }
  await markDropped(database, options);
  const unit = options.by === 'day' ? 'day' : 'cluster::int::varchar';
  const kept = 'reports where reason is null';
  await database.rows(`create table cells as ${sql.sumsOf(kept, ['trial', 'arm', `${unit} as unit`])}`);
}

/** The first of the reports with the same id counts; then those of the trial and of the days. */
async function markDropped(database: Database, { from, to }: ReadOptions): Promise<void> {
  await database.rows(
    'create table twice as select "key" from reports where reason is null group by 1 having count(*) > 1',
  );
  await database.rows(
    `update reports set reason = ${sql.quoted(REPEATED)} where reason is null and "key" in (select "key" from twice) and ` +
      'rowid not in (select min(rowid) from reports where reason is null and "key" in (select "key" from twice) group by "key")',
  );
  const outside = [from && `day < ${sql.quoted(from)}`, to && `day > ${sql.quoted(to)}`].filter(Boolean).join(' or ');
  if (outside) {
    await database.rows(`update reports set reason = ${sql.quoted(OTHER_DAY)} where reason is null and (${outside})`);
  }
  await database.rows('insert into dropped select reason, count(*) from reports where reason is not null group by 1');
}

/** Fills `cells` and `dropped` from files of sums. */
async function loadSums(database: Database, files: Record<Format, string[]>, { by }: ReadOptions): Promise<void> {
  const sources = Object.entries(READERS).flatMap(([format, reader]) =>
    files[format as Format].map((file) => ({ file, source: reader.replace('?', () => sql.quoted(file)) })),
  );
  for (const [i, { file, source }] of sources.entries()) {
    await readable(file, async () => {
      const present = await columnsOf(database, source);
      const missing = sql.SUM_COLUMNS.find((column) => !present.has(column));
      if (missing) throw new InputError(file, 'the columns of --sql', undefined, `no column ${missing}`);
      await database.rows(`${i === 0 ? 'create table sums as' : 'insert into sums'} ${sql.typedSums(source)}`);
    });
  }
  const unit = by === 'day' ? 'day' : 'cluster';
  await database.rows(
    'create table dropped as select reason, count(*) as rows from sums where reason is not null group by 1',
  );
  await database.rows(`create table cells as select *, ${unit} as unit from sums where reason is null`);
}

const READERS: Record<Format, string> = {
  lines: 'read_json(?)',
  parquet: 'read_parquet(?)',
  csv: 'read_csv(?, all_varchar = true)',
};

async function columnsOf(database: Database, source: string): Promise<Set<string>> {
  const columns = await database.rows(`describe select * from ${source}`);
  return new Set(columns.map((column) => String(column['column_name'])));
}

/** What DuckDB cannot read is wrong input. */
async function readable(what: string, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(what, 'readable files of reports', error);
  }
}

async function trialSums(database: Database, { trial: wanted }: ReadOptions): Promise<TrialSums> {
  const found = await database.rows(
    'select trial, sum(sessions)::double as sessions from cells group by 1 order by 2 desc, 1',
  );
  const names = found.filter(({ trial }) => trial !== null).map(({ trial }) => String(trial));
  const trial = wanted ?? names[0];
  if (trial === undefined || !names.includes(trial) || (wanted === undefined && names.length > 1)) {
    const shown = names.slice(0, 10).join(', ');
    throw new InputError('--name', names.length > 0 ? `one of ${shown}` : 'reports of a trial', wanted);
  }
  const dropped = await database.rows('select reason, sum(rows)::double as rows from dropped group by 1');
  const others = found
    .filter((of) => of['trial'] !== trial)
    .map(({ sessions }) => ({ reason: OTHER_TRIAL, rows: sessions }));
  const notCounted = [...groupBy([...dropped, ...others], ({ reason }) => String(reason))]
    .map(([reason, of]) => ({ reason, rows: of.reduce((sum, { rows }) => sum + Number(rows), 0) }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);

  const rows = await database.rows(sql.sumsByKind('cells', trial));
  const units = new Map([...new Set(rows.map(({ unit }) => unit))].map((unit, number) => [unit, number]));
  const kinds = groupBy(rows, ({ kind, value }) => JSON.stringify([Number(kind), value]));
  const groups = [...kinds].sort().map(([key, of]) => {
    const [kind, value] = JSON.parse(key) as [number, string];
    return { title: GROUPS[kind - 1]?.title ?? '', value, arms: armsOf(of, units) };
  });
  const [all, ...parts] = groups;
  return { trial, notCounted, arms: all!.arms, groups: parts };
}

/** The sums of each arm, by name. `units`: the number of each cluster. */
function armsOf(rows: readonly Record<string, unknown>[], units: ReadonlyMap<unknown, number>): ArmSums[] {
  const byArm = groupBy(rows, ({ arm }) => String(arm));
  return [...byArm.keys()].sort().map((arm) => {
    const of = byArm.get(arm)!;
    const sum = (column: string) => of.reduce((total, row) => total + Number(row[column] ?? 0), 0);
    const byUnit = (column: string) => {
      const sums = new Float64Array(units.size);
      for (const row of of) sums[units.get(row['unit'])!]! += Number(row[column] ?? 0);
      return sums;
    };
    const metrics = METRICS.map(({ id }): [string, ClusterSums] => {
      const [x, y] = [byUnit(`${id}_x`), byUnit(`${id}_y`)];
      return [id, { x, y, sessions: sum(`${id}_n`), xx: sum(`${id}_xx`), xy: sum(`${id}_xy`), yy: sum(`${id}_yy`) }];
    });
    const shares = of.flatMap((row) => [row['least_share'], row['greatest_share']]).filter((share) => share !== null);
    return {
      ...{ arm, sessions: sum('sessions'), own: sum('own'), perUnit: byUnit('sessions') },
      plannedShares: [Math.min(...shares.map(Number)), Math.max(...shares.map(Number))],
      metrics: Object.fromEntries(metrics),
    };
  });
}
