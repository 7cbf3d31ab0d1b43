/** `npm run tables`: writes tables and single numbers of README.md and docs/ from docs/results/*.json and the options. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { commandLine, ROOT } from './command-line.js';
import { optionsOf } from './option-table.js';
import { readSteps } from './result-steps.js';
import { sizeRows } from './size-table.js';

const USAGE = `usage: npm run tables -- [--check] [--docs <folder>]

Writes each table between <!-- table: NAME... --> and <!-- /table --> in <folder>/*.md (default docs), and in README.md
beside the folder, anew from <folder>/results/*.json. Several names give one table. NAME[column=value] gives only the rows
with this value (or value/value), without the column if all rows of the table have the same. NAME... "| column | column"
gives only these columns. Rows and columns without a number are left out. A number is between <!-- value:
NAME[column=value] column --> (one row) and <!-- /value -->. <!-- played: STEP --> has the day and the programs of a step.
<!-- options: INTERFACE --> has the options of session/page/option-types.ts, <!-- sizes: page --> a page's downloads.
--check writes nothing; the status is 1 if a page differs.`;
const PLAYED = /(<!-- played: (.+?) -->)[^<]*(<!-- \/played -->)/g;
const VALUE = /(<!-- value: (.+?) -->)[^<]*(<!-- \/value -->)/g;
const MARKED = /(<!-- (table|options|sizes): (.+?) -->\n)[\s\S]*?(<!-- \/\2 -->)/g;

const { values: flags } = commandLine(USAGE, {
  options: { check: { type: 'boolean' }, docs: { type: 'string', default: join(ROOT, 'docs') } },
});
const steps = readSteps(join(flags.docs, 'results'));
const tables = Object.assign({}, ...Object.values(steps).map((step) => step.tables));
const pages = readdirSync(flags.docs).filter((one) => one.endsWith('.md'));
for (const file of [...pages, '../README.md'].map((name) => join(flags.docs, name)).filter(existsSync)) {
  const before = readFileSync(file, 'utf8');
  let after = before.replace(MARKED, (_, begin, kind, names, end) => {
    const lines = kind === 'table' ? results(names, file) : kind === 'sizes' ? sizes() : options(names);
    // A table whose rows are not played yet is left out.
    return lines.lines.length > 1 ? `${begin}\n${markdown(lines)}\n${end}` : begin + end;
  });
  after = after.replace(VALUE, (_, begin, of, end) => `${begin}${valueText(of, file)}${end}`);
  after = after.replace(PLAYED, (_, begin, step, end) => `${begin}${steps[step].played}${end}`);
  if (after === before) continue;
  console.log(`${relative(ROOT, file)}: ${flags.check ? 'its tables differ from their source' : 'written'}`);
  if (flags.check) process.exitCode = 1;
  else writeFileSync(file, after);
}

function filtered(one, file) {
  const [, name] = /^([^[]+)(?:\[.+?=.+\])?$/.exec(one) ?? [];
  if (!Object.hasOwn(tables, name)) throw new Error(`${file}: no table ${one} in docs/results`);
  const { columns, rows } = tables[name];
  const filters = [...one.matchAll(/\[(.+?)=(.+?)\]/g)].map(([, column, values]) => [column, values.split('/')]);
  const has = (row) => filters.every(([column, values]) => values.includes(String(cellOf(row, columns, column))));
  return { filters: Object.fromEntries(filters), columns, rows: rows.filter(has) };
}

function cellOf(row, columns, name) {
  return row[Object.keys(columns).indexOf(name)];
}

/** A cell without its interval. */
function valueText(given, file) {
  const [, name, column] = /^([^ [\]]+(?:\[[^\]]*\])*) (.+)$/.exec(given) ?? [];
  const { columns, rows } = filtered(name, file);
  const value = rows[0] && cellOf(rows[0], columns, column);
  if (rows.length !== 1 || value === undefined) throw new Error(`${file}: not one value ${given} in docs/results`);
  return value === null ? '–' : [value].flat()[0].toFixed(columns[column]);
}

function results(given, file) {
  const [names, ...wanted] = given.split(' | ');
  const parts = names.split(/ (?![^[]*\])/).map((one) => filtered(one, file));
  const isFixed = (name) =>
    parts.every(({ filters }) => filters[name]?.length === 1 && filters[name][0] === parts[0].filters[name]?.[0]);
  const unknown = wanted.find((name) => !Object.hasOwn(parts[0].columns, name));
  if (unknown !== undefined) throw new Error(`${file}: no column ${unknown} in table ${names}`);
  const isShown = (name) => (wanted.length > 0 ? wanted.includes(name) : !isFixed(name));
  // Rows and columns that are not measured yet are left out.
  const isKnown = ([name, digits]) =>
    digits === null || parts.some(({ rows, columns: of }) => rows.some((row) => cellOf(row, of, name) !== null));
  const columns = Object.entries(parts[0].columns).filter((column) => isShown(column[0]) && isKnown(column));
  const cells = parts.flatMap(({ rows, columns: of }) =>
    rows
      .filter((row) => columns.some(([name, digits]) => digits !== null && cellOf(row, of, name) !== null))
      .map((row) => columns.map((column) => cellText(cellOf(row, of, column[0]), column))),
  );
  const isNumber = columns.map(([, digits]) => Number.isInteger(digits));
  return { lines: [columns.map(([name]) => name), ...cells], isNumber };
}

function options(name) {
  const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;
  const rows = optionsOf(name).map((one) => [code(one.option), code(one.type), one.meaning, one.default]);
  const lines = [['option', 'type', 'meaning', 'default'], ...rows];
  return { lines, isNumber: lines[0].map(() => false) };
}

function sizes() {
  const lines = sizeRows();
  return { lines, isNumber: [false, false, true] };
}

function markdown({ lines, isNumber }) {
  const widths = isNumber.map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)));
  const [head, ...rows] = lines.map((line) =>
    line.map((text, i) => (isNumber[i] ? text.padStart(widths[i]) : text.padEnd(widths[i]))),
  );
  const rule = widths.map((width, i) => (isNumber[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [head, rule, ...rows].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

/** An estimate has its interval. A difference has a sign, and is bold if its interval excludes 0. Null is a dash. */
function cellText(value, [name, digits]) {
  if (value === null) return '–';
  if (!Number.isInteger(digits)) return `\`${value}\``;
  const isDifference = name.includes('difference');
  const [text, low, high] = [value].flat().map((one) => `${isDifference && one > 0 ? '+' : ''}${one.toFixed(digits)}`);
  if (low === undefined) return text;
  const isClear = isDifference && (value[1] > 0 || value[2] < 0);
  return isClear ? `**${text} [${low}, ${high}]**` : `${text} [${low}, ${high}]`;
}
