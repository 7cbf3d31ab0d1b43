/** The SQL of a trial: the check of reports by the rules of abr/session-report.ts, and their sums. */

import { type FieldRule, ORDERED, SESSION_REPORT_FIELDS, TOGETHER } from '../../abr/session-report.ts';
import { KINDS, METRICS } from './metrics.ts';

const FIELDS = Object.entries<FieldRule>(SESSION_REPORT_FIELDS);

/** A text in SQL. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const listed = (texts: readonly string[]) => texts.map(quoted).join(', ');

/** Lines above 1 MB and those that are not UTF-8 are left out, and listed in `reject_errors`. */
const READ_LINES =
  "columns = {line: 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01', quote = '', escape = '', " +
  "comment = '', strict_mode = false, max_line_size = 1048576, ignore_errors = true, store_rejects = true, rejects_limit = 0";

/**
 * Raw reports from NDJSON: a column of JSON per field, all null for a line that is none. Values are checked as JSON,
 * because a cast takes "12" and true for numbers.
 */
export function linesAsJson(files: readonly string[]): string {
  const shape = quoted(JSON.stringify(Object.fromEntries(FIELDS.map(([field]) => [field, 'JSON']))));
  const report = `case when json_valid(line) then json_transform(line, ${shape}) end`;
  return `select unnest(${report}) from read_csv([${listed(files)}], ${READ_LINES})`;
}

/** The same of a Parquet file with these columns, of any types. */
export function parquetAsJson(file: string, columns: ReadonlySet<string>): string {
  const values = FIELDS.map(([field]) => `${columns.has(field) ? `to_json("${field}")` : 'null::json'} as "${field}"`);
  return `select ${values.join(', ')} from ${quoted(file)}`;
}

/** The value of a raw field as it is used; null for one of another type. */
function typed(field: string, rule: FieldRule): string {
  const text = `"${field}"::varchar`;
  if ('min' in rule) return `try_cast(${text} as double)`;
  const isFlag = 'values' in rule && rule.values.includes(true);
  return isFlag ? `case ${text} when 'true' then true when 'false' then false end` : `trim(${text}, '"')`;
}

/** Whether a raw field that is present follows its rule; null counts as no. */
function follows(field: string, rule: FieldRule): string {
  const text = `"${field}"::varchar`;
  if ('values' in rule) return `${text} in (${listed(rule.values.map((one) => JSON.stringify(one)))})`;
  if ('pattern' in rule) {
    return `regexp_full_match(${text}, ${quoted(`"(?:${rule.pattern.source.replace(/^\^|\$$/g, '')})"`)})`;
  }
  const value = typed(field, rule);
  return `${value} between ${rule.min} and ${rule.max}${rule.whole ? ` and ${value} = floor(${value})` : ''}`;
}

/** Why a raw report is invalid: what its first wrong field violates; null for a valid one. */
function reasonSql(): string {
  const all = FIELDS.map(([field]) => `"${field}"::varchar`).join(', ');
  const cases = [
    ...[`coalesce(${all}) is null`, 'not a line of JSON with fields of a report'],
    ...FIELDS.flatMap(([field, rule]) => [
      `${rule.optional ? `"${field}" is not null and ` : ''}not coalesce(${follows(field, rule)}, false)`,
      `wrong ${field}`,
    ]),
    ...TOGETHER.flatMap((fields) => [
      `${fields.map((field) => `("${field}" is null)::int`).join(' + ')} not in (0, ${fields.length})`,
      `only some of ${fields.join(', ')}`,
    ]),
    ...ORDERED.flatMap((pair) => [
      pair.map((field) => typed(field, SESSION_REPORT_FIELDS[field])).join(' > '),
      `${pair[0]} above ${pair[1]}`,
    ]),
  ];
  return `case ${cases.map((part, i) => (i % 2 === 0 ? `when ${part}` : `then ${quoted(part)}`)).join('\n')} end`;
}

const KEYS = ['trial', 'arm', 'cluster', 'day'];
/** Names the fields that sums need. */
const USED = JSON.stringify([KEYS, 'armShare', 'controller', METRICS, KINDS]);

/** Raw reports as typed ones with the fields in use, a number `key` in place of the id, and the reason if one is invalid. */
export function typedReports(raw: string): string {
  const columns = FIELDS.filter(([field]) => new RegExp(`\\b${field}\\b`).test(USED));
  const values = columns.map(([field, rule]) => `${typed(field, rule)} as "${field}"`).join(', ');
  return `select ${reasonSql()} as reason, try_cast('0x' || trim(id::varchar, '"') as ubigint) as key, ${values} from (${raw})`;
}

/** The columns of sums beside their keys, and their SQL over `x_<metric>` and `y_<metric>` of each session. */
const SUMS: readonly (readonly [column: string, sql: string])[] = [
  ['sessions', 'count(*)'],
  ['own', "sum(case when controller = 'player' then 1 else 0 end)"],
  ['least_share', 'min(armShare)'],
  ['greatest_share', 'max(armShare)'],
  ...METRICS.flatMap(({ id }) => [
    [`n_${id}`, `count(x_${id})`] as const,
    ...['x', 'y'].map((of) => [`sum_${of}_${id}`, `sum(${of}_${id})`] as const),
    ...['xx', 'xy', 'yy'].map((of) => [`sum_${of}_${id}`, `sum(${of[0]}_${id} * ${of[1]}_${id})`] as const),
  ]),
];

const SUM_KEYS = [...KEYS, ...KINDS.map(([id]) => `${id}_kind`)];
/** Sums of the valid reports of a table; plain SQL, which warehouses run, too. `keys`: of the reports, one of `KEYS` each. */
export function sumsOf(table: string, keys: readonly string[] = KEYS): string {
  const by = [...keys, ...SUM_KEYS.slice(KEYS.length)];
  const values = [
    ...[...keys, 'controller', 'armShare'],
    ...KINDS.map(([id, sql]) => `${sql} as ${id}_kind`),
    ...METRICS.flatMap(({ id, x, y }) => [`${x} as x_${id}`, `${y} as y_${id}`]),
  ];
  const sums = SUMS.map(([column, sql]) => `${sql} as ${column}`);
  return `with sessions as (
  select
    ${values.join(',\n    ')}
  from ${table}
)
select
  ${[...by, ...sums].join(',\n  ')}
from sessions
group by ${by.join(', ')}`;
}

/** Sums from a file, as a warehouse wrote it. */
export function typedSums(file: string): string {
  const columns = [
    ...SUM_KEYS.map((key) => `${key}::varchar as ${key}`),
    ...SUMS.map(([sum]) => `${sum}::double as ${sum}`),
  ];
  return `select ${columns.join(', ')} from ${quoted(file)}`;
}

/** Sums by arm, unit (a key), and `kind`: one kind of session at a time, or '' for all sessions. */
export function sumsByKind(table: string, unit: string, trial: string): string {
  const columns = SUMS.map(([column]) => {
    const how = column === 'least_share' ? 'min' : column === 'greatest_share' ? 'max' : 'sum';
    return `${how}(${column})::double as ${column}`;
  });
  const kinds = KINDS.map(([id]) => `when grouping(${id}_kind) = 0 then '${id}: ' || ${id}_kind`).join(' ');
  const sets = ['', ...KINDS.map(([id]) => `, ${id}_kind`)].map((kind) => `(arm, ${unit}${kind})`);
  return (
    `select arm, ${unit} as unit, case ${kinds} else '' end as kind, ${columns.join(', ')} ` +
    `from ${table} where trial = ${quoted(trial)} group by grouping sets (${sets.join(', ')})`
  );
}
