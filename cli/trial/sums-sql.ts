/**
 * The SQL of a trial: the check of reports by the rules of abr/session-report.ts, and their sums by arm, cluster and
 * kind of session.
 */

import { type FieldRule, ORDERED, SESSION_REPORT_FIELDS, TOGETHER } from '../../abr/session-report.ts';
import { GROUPS, METRICS } from './metrics.ts';

const FIELDS = Object.entries(SESSION_REPORT_FIELDS);

/** SQL text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An SQL name: fields differ in case. */
const name = (field: string) => `"${field}"`;

/** Values are checked as JSON, because a cast takes "12" and true for numbers. */
const AS_JSON = FIELDS.map(([field]) => `${field}: 'JSON'`).join(', ');

function list(files: readonly string[]): string {
  return `[${files.map(quoted).join(', ')}]`;
}

/** No raw reports, in the form of the following. */
export function noReports(): string {
  return `select ${FIELDS.map(([field]) => `null::json as ${name(field)}`).join(', ')} where false`;
}

/** Raw reports from NDJSON: a column of JSON per field, all null for a line that is none. */
export function linesAsJson(files: readonly string[]): string {
  return `select * from read_json(${list(files)}, format = 'newline_delimited', ignore_errors = true, columns = {${AS_JSON}})`;
}

/** The same for any text. It leaves out lines above 1 MB and those that are not UTF-8, and lists them in `reject_errors`. */
export function linesAsText(files: readonly string[]): string {
  const lines =
    `read_csv(${list(files)}, columns = {line: 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01', quote = '', ` +
    "escape = '', comment = '', strict_mode = false, max_line_size = 1048576, ignore_errors = true, store_rejects = true, " +
    'rejects_limit = 0)';
  const shape = `{${FIELDS.map(([field]) => `"${field}": "JSON"`).join(', ')}}`;
  return `select unnest(case when json_valid(line) then json_transform(line, ${quoted(shape)}) end) from ${lines}`;
}

/** The same of a Parquet file with these columns, of any types; null counts as absent. */
export function columnsAsJson(file: string, present: ReadonlySet<string>): string {
  const columns = FIELDS.map(
    ([field]) => `${present.has(field) ? `to_json(${name(field)})` : 'null::json'} as ${name(field)}`,
  );
  return `select ${columns.join(', ')} from read_parquet(${quoted(file)})`;
}

/** The value of a raw field as it is used; null for one of another type. */
function typed(field: string, { type }: FieldRule): string {
  const text = `${name(field)}::varchar`;
  if (type === 'number') return `try_cast(${text} as double)`;
  if (type === 'boolean') return `case ${text} when 'true' then true when 'false' then false end`;
  return `trim(${text}, '"')`;
}

/** Whether a raw field that is present follows its rule; null counts as no. */
function checkOf(field: string, rule: FieldRule): string {
  const text = `${name(field)}::varchar`;
  const number = `try_cast(${text} as double)`;
  switch (rule.type) {
    case 'number':
      return `${number} between ${rule.min} and ${rule.max}${rule.whole ? ` and ${number} = floor(${number})` : ''}`;
    case 'boolean':
      return `${text} in ('true', 'false')`;
    case 'choice':
      return rule.values.every((value) => typeof value === 'number')
        ? `${number} in (${rule.values.join(', ')})`
        : `${text} in (${rule.values.map((value) => quoted(JSON.stringify(value))).join(', ')})`;
    case 'text':
      return matches(text, `"${inner(rule.pattern)}"`);
    case 'texts': {
      const one = `"${inner(rule.pattern)}"`;
      const list = `from_json(${name(field)}, '["VARCHAR"]')`;
      const isRight = `${matches(text, `\\[${one}(,${one})*\\]`)} and len(${list}) <= ${rule.most}`;
      return `case ${text} when '[]' then true else ${isRight} and list_unique(${list}) = len(${list}) end`;
    }
  }
}

function inner({ source }: RegExp): string {
  return source.replace(/^\^/, '').replace(/\$$/, '');
}

/** RE2 repeats at most 1000 times: a longer limit becomes a limit of the length, with the two quotes. */
function matches(text: string, pattern: string): string {
  const long = /\{(\d+),(\d{4,})\}"$/.exec(pattern);
  const limit = long ? ` and length(${text}) between ${Number(long[1]) + 2} and ${Number(long[2]) + 2}` : '';
  return `regexp_full_match(${text}, ${quoted(long ? pattern.replace(long[0], '*"') : pattern)})${limit}`;
}

/** The reason for which a raw report is invalid: what its first wrong field violates; null for a valid one. */
function reasonSql(): string {
  const isObject = `coalesce(${FIELDS.map(([field]) => `${name(field)}::varchar`).join(', ')}) is not null`;
  const cases = [
    `when not (${isObject}) then 'not a line of JSON with fields of a report'`,
    ...FIELDS.map(([field, rule]) => {
      const fails = `not coalesce(${checkOf(field, rule)}, false)`;
      return `when ${rule.optional ? `${name(field)} is not null and ` : ''}${fails} then ${quoted(field)}`;
    }),
    ...TOGETHER.map(
      (fields) =>
        `when ${fields.map((field) => `(${name(field)} is null)::int`).join(' + ')} not in (0, ${fields.length}) ` +
        `then ${quoted(`${fields.join(', ')}: not together`)}`,
    ),
    ...ORDERED.map(([low, high]) => {
      const [lesser, greater] = [low, high].map((field) => typed(field, SESSION_REPORT_FIELDS[field]));
      return `when ${lesser} > ${greater} then ${quoted(`${low} above ${high}`)}`;
    }),
  ];
  return `case ${cases.join('\n')} end`;
}

/** Fields that sums and selection need. */
const KEPT = [
  ...['day', 'trial', 'arm', 'armShare', 'cluster', 'controller', 'player', 'browser', 'live', 'rhythm', 'started'],
  ...[
    'startupSeconds',
    'watchedSeconds',
    'stallSeconds',
    'meanBitrateBps',
    'qoe',
    'qoeFirst60Seconds',
    'latencySeconds',
  ],
] as const;

/** Raw reports as typed ones, each with its number `key` (its id) and the reason if it is invalid. */
export function typedReports(raw: string): string {
  const columns = KEPT.map((field) => `${typed(field, SESSION_REPORT_FIELDS[field])} as ${name(field)}`);
  const key = `try_cast('0x' || trim(id::varchar, '"') as ubigint) as "key"`;
  return `select ${reasonSql()} as reason, ${key}, ${columns.join(', ')} from (${raw})`;
}

/** The columns of sums beside their keys, and their SQL over `x_<metric>` and `y_<metric>` of each session. */
const SUMS: readonly (readonly [column: string, sql: string])[] = [
  ['sessions', 'count(*)'],
  ['own', "sum(case when controller = 'player' then 1 else 0 end)"],
  ['least_share', 'min(armShare)'],
  ['greatest_share', 'max(armShare)'],
  ...METRICS.flatMap(({ id }) => [
    [`${id}_n`, `count(x_${id})`] as const,
    ...['x', 'y'].map((of) => [`${id}_${of}`, `sum(${of}_${id})`] as const),
    ...['xx', 'xy', 'yy'].map((of) => [`${id}_${of}`, `sum(${of[0]}_${id} * ${of[1]}_${id})`] as const),
  ]),
];
const GROUP_KEYS = GROUPS.map(({ id }) => `${id}_group`);

/**
 * Sums of the valid reports of a table by `keys` (columns, or `sql as name`) and by the kind of session. Warehouses run it,
 * too: it is plain SQL.
 */
export function sumsOf(table: string, keys: readonly string[]): string {
  const names = [...keys.map((key) => key.split(' as ').pop()!), ...GROUP_KEYS];
  const values = [
    ...keys,
    ...GROUPS.map(({ sql }, i) => `${sql} as ${GROUP_KEYS[i]}`),
    ...['controller', 'armShare'],
    ...METRICS.flatMap(({ id, x, y }) => [`${x} as x_${id}`, `${y} as y_${id}`]),
  ];
  const sums = SUMS.map(([column, sql]) => `${sql} as ${column}`);
  return `with sessions as (
  select
    ${values.join(',\n    ')}
  from ${table}
)
select
  ${[...names, ...sums].join(',\n  ')}
from sessions
group by ${names.join(', ')}`;
}

/** Sums by arm, unit and one kind of session at a time, or none: `kind` is its number + 1, or 0. */
export function sumsByKind(table: string, trial: string): string {
  const columns = SUMS.map(([column]) => {
    const how = column === 'least_share' ? 'min' : column === 'greatest_share' ? 'max' : 'sum';
    return `${how}(${column})::double as ${column}`;
  });
  const kinds = GROUP_KEYS.map((key, i) => `when grouping(${key}) = 0 then ${i + 1}`).join(' ');
  const sets = ['', ...GROUP_KEYS].map((key) => `(arm, unit${key && `, ${key}`})`);
  return (
    `select arm, unit, case ${kinds} else 0 end as kind, coalesce(${GROUP_KEYS.join(', ')}) as value, ${columns.join(', ')} ` +
    `from ${table} where trial = ${quoted(trial)} group by grouping sets (${sets.join(', ')})`
  );
}

const SUM_KEYS = ['trial', 'arm', 'cluster', 'day', ...GROUP_KEYS];
/** What a file of sums must have. */
export const SUM_COLUMNS: readonly string[] = [...SUM_KEYS, ...SUMS.map(([column]) => column)];

/** Sums from a file as a warehouse wrote it; `reason` is null for a valid row. */
export function typedSums(source: string): string {
  const numbers = SUMS.map(([column]) => `try_cast(${column} as double) as ${column}`);
  const always = ['sessions', 'own', ...METRICS.map(({ id }) => `${id}_n`)];
  const isWrong = [
    'trial is null or arm is null or day is null',
    ...always.map((column) => `not coalesce(${column} >= 0 and ${column} = floor(${column}), false)`),
    ...SUMS.map(([column]) => `not coalesce(isfinite(${column}), true)`),
  ];
  const keys = SUM_KEYS.map((key) => `${key}::varchar as ${key}`);
  return `select case when ${isWrong.join(' or ')} then 'sums with a wrong or missing value' end as reason, * from (select ${[...keys, ...numbers].join(', ')} from ${source})`;
}
