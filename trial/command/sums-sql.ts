/** The SQL of a trial: the metrics, the check of reports by ../session-report.ts, and their sums. */

import { type FieldRule, MAX_OBSERVATIONS, SESSION_REPORT_FIELDS } from '../session-report.ts';

/** A metric is sum(y) / sum(x) over the sessions in which x is not null. */
export type TrialMetric = ReturnType<typeof metric>;

/** `id` is part of the columns' names. `title` has the unit after a comma. */
function metric(id: string, title: string, digits: number, [x, y]: [string, string], isLowerBetter = false) {
  return { id, title, digits, x, y, isLowerBetter };
}

const given = (condition: string, value: string) => `case when ${condition} then ${value} end`;
/** The mean over the time watched. A session without the field does not count. */
const overTime = (field: string, seconds = 'watchedSeconds'): [string, string] => [
  given(`${field} is not null`, seconds),
  `${seconds} * ${field}`,
];

const hasBytes = (value: string) => given('receivedBits is not null', value);

/** Audio and video, with abandoned downloads. */
const EGRESS_SUMS: [string, string] = [hasBytes('watchedSeconds'), '3600 * receivedBits / 8e9'];
export const EGRESS = metric('egress', 'egress, GB per hour watched', 3, EGRESS_SUMS, true);

/** Metrics that decide, also by kind of session. `qoe` replaces `perceived`, which old reports lack. */
export const DECISIVE: readonly TrialMetric[] = [
  metric('perceived', 'perceived QoE, 0 to 100', 2, overTime('perceivedQoe')),
  EGRESS,
  metric('qoe', 'QoE-linear, Mbit/s', 2, overTime('qoe')),
  metric('stalled', 'stalled share, %', 3, ['watchedSeconds + stallSeconds', '100 * stallSeconds'], true),
  metric('watched', 'watch time, s per session', 1, ['1', 'watchedSeconds']),
];

export const METRICS: readonly TrialMetric[] = [
  ...DECISIVE,
  metric('minute', 'QoE-linear of the first minute', 2, overTime('qoeFirst60Seconds', 'least(watchedSeconds, 60)')),
  metric('startup', 'startup, s', 3, [given('started', '1'), given('started', 'startupSeconds')], true),
  metric('unstarted', 'without a picture, % of sessions', 2, ['1', 'case when started then 0 else 100 end'], true),
  metric('bitrate', 'bitrate, Mbit/s', 2, overTime('meanBitrateBps / 1e6')),
  metric('wasted', 'wasted, % of egress', 2, [hasBytes('receivedBits'), hasBytes('100 * wastedBits')], true),
  metric('above', 'above good enough, % of egress', 1, [hasBytes('receivedBits'), '100 * aboveEnoughBits'], true),
  metric('latency', 'live latency, s', 2, overTime('latencySeconds'), true),
];

/** Kinds of sessions that are also compared separately, as text columns `<id>_kind`. */
const KINDS = {
  rhythm: "case when rhythm is null then 'not known' when rhythm then 'found' else 'none' end",
  player: 'player',
  live: "case when live then 'live' else 'on demand' end",
  browser: 'browser',
};

const FIELDS = Object.entries<FieldRule>(SESSION_REPORT_FIELDS);

export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
export const isParquet = (file: string) => file.endsWith('.parquet');

/** DuckDB lists no line that is longer than its buffer. */
export const BUFFER_BYTES = 2 ** 24;
/** Lines above 1 MB and lines that are not UTF-8 are left out and listed in `reject_errors`. */
const READ_LINES =
  `buffer_size = ${BUFFER_BYTES}, ` +
  "columns = {line: 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01', quote = '', escape = '', " +
  "comment = '', strict_mode = false, max_line_size = 1048576, ignore_errors = true, store_rejects = true, rejects_limit = 0";

/** One column of JSON text per field, null if the line is no report. A cast to numbers would accept "12" and true. */
function rawReports(files: readonly string[]): string {
  const texts = files.filter((file) => !isParquet(file)).map(quoted);
  const lines = files.filter(isParquet).map((file) => `select to_json(t)::varchar as line from ${quoted(file)} t`);
  if (texts.length > 0) lines.push(`select line from read_csv([${texts.join(', ')}], ${READ_LINES})`);
  const shape = quoted(JSON.stringify(Object.fromEntries(FIELDS.map(([field]) => [field, 'JSON']))));
  const report = `case when json_valid(line) then json_transform(line, ${shape}) end`;
  return `select columns(*)::varchar from (select unnest(${report}) from (${lines.join(' union all ')}))`;
}

/** The typed value of a raw field, or null if the field has another type. */
function typed(field: string, rule: FieldRule): string {
  if ('min' in rule) return `try_cast("${field}" as double)`;
  return 'values' in rule && rule.values.includes(true) ? `try_cast("${field}" as boolean)` : `trim("${field}", '"')`;
}

/** Tells whether a raw field has a value of its rule. Null means no. */
function hasRightValue(field: string, rule: FieldRule): string {
  const value = typed(field, rule);
  const whole = 'whole' in rule ? ` and ${value} = floor(${value})` : '';
  if ('min' in rule) return `${value} between ${rule.min} and ${rule.max}${whole}`;
  if ('values' in rule) return `"${field}" in (${rule.values.map((one) => quoted(JSON.stringify(one))).join(', ')})`;
  const pattern = quoted(`"(?:${rule.pattern.source.replace(/^\^|\$$/g, '')})"`);
  return `length("${field}") <= ${MAX_OBSERVATIONS + 2} and regexp_full_match("${field}", ${pattern})`;
}

function isRight(field: string, rule: FieldRule): string {
  const { optional, with: beside, atMost = field, qoeSeconds, isPerceived } = rule;
  const of = (name: string) => typed(name, rule);
  const value = `coalesce(${hasRightValue(field, rule)}, ${optional ? `"${field}" is null` : false})`;
  const isBeside = beside ? ` and ("${field}" is null) = ("${beside}" is null)` : '';
  const costs = `1 + ${of('startupSeconds')} + ${of('stallSeconds')} + ${of('stallCount')} + ${of('switches')}`;
  const best = isPerceived ? '100' : `${of('topBitrateBps')} / 1e6`;
  const least = `-4 * ${best} * (${costs}) / least(${of('watchedSeconds')} / 100, ${qoeSeconds})`;
  const most = isPerceived ? '100' : `1.0001e-6 * ${of(atMost)}`;
  const range = qoeSeconds ? `between ${least} and ${most}` : `<= ${of(atMost)}`;
  return value + isBeside + (atMost === field && !isPerceived ? '' : ` and coalesce(${of(field)} ${range}, true)`);
}

const KEYS = ['trial', 'arm', 'cluster'];
const USED = JSON.stringify([KEYS, 'armShare', 'controller', METRICS, KINDS]);

/** The reports of files: the fields in use, the id as a number `key`, and the first reason why a report is invalid. */
export function typedReports(files: readonly string[]): string {
  const reasons = FIELDS.map(([field, rule]) => `when not (${isRight(field, rule)}) then 'wrong ${field}'`);
  const columns = FIELDS.filter(([field]) => new RegExp(`\\b${field}\\b`).test(USED));
  const values = columns.map(([field, rule]) => `${typed(field, rule)} as "${field}"`);
  const none = `when coalesce(${FIELDS.map(([field]) => `"${field}"`).join(', ')}) is null`;
  return `select case ${none} then 'not a line of JSON with fields of a report'
    ${reasons.join('\n')} when try_cast(trim(day, '"') as date) is null then 'wrong day' end as reason,
    try_cast('0x' || trim(id, '"') as ubigint) as key, ${values.join(', ')} from (${rawReports(files)})`;
}

const SUMS: readonly (readonly [column: string, sql: string])[] = [
  ['sessions', 'count(*)'],
  ['own', "sum(case when controller = 'player' then 1 else 0 end)"],
  ['planned', 'sum(armShare)'],
  ...METRICS.flatMap(({ id, x, y }) => [[`sum_x_${id}`, `sum(${x})`] as const, [`sum_y_${id}`, `sum(${y})`] as const]),
];
const ALL_KEYS = [...KEYS, ...Object.keys(KINDS).map((id) => `${id}_kind`)];

/** Sums of the valid reports of a table in plain SQL, which warehouses also run. */
export function sumsOf(table: string): string {
  const kinds = Object.entries(KINDS).map(([id, sql]) => `${sql} as ${id}_kind`);
  const sums = SUMS.map(([column, sql]) => `${sql} as ${column}`);
  return `select\n  ${[...KEYS, ...kinds, ...sums].join(',\n  ')}\nfrom ${table}\ngroup by ${ALL_KEYS.join(', ')}`;
}

/** Sums from a file that a warehouse wrote. */
export function typedSums(file: string): string {
  const keys = ALL_KEYS.map((key) => `${key}::varchar as ${key}`);
  return `select ${[...keys, ...SUMS.map(([sum]) => `${sum}::double as ${sum}`)].join(', ')} from ${quoted(file)}`;
}

/** Sums by arm, cluster and `kind`, which is one kind of session or '' for all sessions. */
export function sumsByKind(table: string, trial: string): string {
  const kinds = Object.keys(KINDS).map((id) => `when grouping(${id}_kind) = 0 then '${id}: ' || ${id}_kind`);
  const sets = ['', ...Object.keys(KINDS).map((id) => `, ${id}_kind`)].map((kind) => `(arm, cluster${kind})`);
  const sums = SUMS.map(([column]) => `sum(${column})::double as ${column}`);
  return `select arm, cluster, case ${kinds.join(' ')} else '' end as kind, ${sums.join(', ')}
    from ${table} where trial = ${quoted(trial)} group by grouping sets (${sets.join(', ')})
    order by kind, arm`;
}
