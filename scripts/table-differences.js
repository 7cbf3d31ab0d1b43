/** Compares a table in docs/, in Markdown or as CSV, with the tables of a report, number by number. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `table` is an entry of `tables` in reproduce-steps.js: the table of `doc` if that is a CSV file, else the first table
 * below `heading` in `doc` that has all `columns`. For each of its rows (with the values of `where`), `report`, `caption`
 * and `row` name the report's row;
 * `{column}` in them is the row's own value, replaced by `names` where it has the value. A column of the doc may hold
 * several of the report (`[...]`); `name#2` is the second column of this name, in docs and reports.
 * With `"within": "interval"` only cells with an interval are compared, and the value must be within the doc's interval;
 * else all numbers are, up to rounding. `without`: data sets that were not played; their rows, and those over several sets
 * (`acrossSets`), are not compared. Throws an Error if a table, column or row is missing.
 */
export function tableDifferences(table, { docs, results, without = [] }) {
  const { doc, heading, columns, where = {}, names = {} } = table;
  const text = readFileSync(join(docs, doc.replace(/^docs\//, '')), 'utf8');
  const below = doc.endsWith('.csv') ? csvAsTable(text) : sectionOf(text, heading);
  if (below === undefined) throw new Error(`${doc}: no heading "${heading}"`);
  const needed = [...Object.keys(columns), ...Object.keys(where)];
  const stated = tablesOf(below).find(({ header }) => needed.every((name) => header.includes(name)));
  if (stated === undefined) throw new Error(`${doc}: no table with the columns ${needed.join(', ')}`);

  let compared = 0;
  const differences = [];
  for (const cells of stated.rows) {
    const own = Object.fromEntries(stated.header.map((name, i) => [name, plain(cells[i])]));
    if (Object.entries(where).some(([name, value]) => own[name] !== value)) continue;
    const filled = (text) => text.replace(/\{(.+?)\}/g, (_, name) => names[own[name]] ?? own[name]);
    const caption = filled(table.caption ?? '');
    if (without.length > 0 && [...without, table.acrossSets].some((set) => caption.startsWith(set))) continue;
    const report = join(results, filled(table.report));
    const made = tablesOf(readFileSync(report, 'utf8')).filter((one) => one.caption.startsWith(caption));
    const wanted = Object.entries(table.row).map(([key, value]) => [key, filled(value)]);
    for (const [name, sources] of Object.entries(columns)) {
      const found = [sources].flat().map((source) => {
        const cell = cellOf(made, source, wanted);
        if (cell === undefined) throw new Error(`${report}: no ${source} of ${JSON.stringify(wanted)}`);
        return cell;
      });
      const [before, now] = [numbersIn(own[name]), numbersIn(found.join(' '))];
      const isInterval = table.within === 'interval';
      if (isInterval && before.length !== 3) continue;
      compared += before.length;
      const agrees = isInterval
        ? now[0]?.value >= before[1].value && now[0]?.value <= before[2].value
        : before.length === now.length && before.every((number, i) => sameRounded(number, now[i]));
      if (agrees) continue;
      const key = stated.header.flatMap((one) => (Object.hasOwn(columns, one) ? [] : [own[one]])).join(' ');
      differences.push(`${key}: ${name} is ${own[name]} in the doc, ${found.join(', ')} now`);
    }
  }
  if (compared === 0 && without.length === 0) throw new Error(`${doc}: nothing to compare`);
  return { compared, differences };
}

/** The rows of a CSV file as those of a Markdown table. Quoted fields must not contain a quote. */
function csvAsTable(text) {
  const rows = text.trimEnd().split('\n');
  return rows.map((row) => `|${row.replace(/"([^"]*)"|,/g, (_comma, quoted) => quoted ?? '|')}|`).join('\n');
}

/** The text from a heading to the next one of its level or above. */
function sectionOf(text, heading) {
  const lines = text.split('\n');
  const levelOf = (line) => /^(#+) /.exec(line)?.[1].length;
  const begin = lines.findIndex((line) => levelOf(line) && line.replace(/^#+ /, '') === heading);
  if (begin < 0) return undefined;
  const end = lines.findIndex((line, i) => i > begin && levelOf(line) <= levelOf(lines[begin]));
  return lines.slice(begin, end < 0 ? undefined : end).join('\n');
}

/** The Markdown tables of a text, each with the last line of text before it. */
function tablesOf(text) {
  const tables = [];
  let caption = '';
  let table;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) {
      if (line !== '') caption = line;
      table = undefined;
      continue;
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (table === undefined) {
      const nth = (name, i) => cells.slice(0, i + 1).filter((other) => other === name).length;
      const header = cells.map((name, i) => (nth(name, i) > 1 ? `${name}#${nth(name, i)}` : name));
      table = { caption, header, rows: [] };
      tables.push(table);
    } else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) table.rows.push(cells);
  }
  return tables;
}

function cellOf(tables, column, wanted) {
  for (const { header, rows } of tables) {
    if (!header.includes(column)) continue;
    const row = rows.find((cells) => wanted.every(([key, value]) => plain(cells[header.indexOf(key)]) === value));
    if (row !== undefined) return plain(row[header.indexOf(column)]);
  }
  return undefined;
}

/** A cell without emphasis and code marks. */
function plain(cell = '') {
  return cell.replaceAll('**', '').replaceAll('`', '');
}

function numbersIn(text) {
  return [...text.replaceAll('−', '-').matchAll(/[+-]?\d+(?:\.\d+)?/g)].map(([number]) => ({
    value: Number(number),
    unit: 10 ** -(number.split('.')[1]?.length ?? 0),
  }));
}

/** Whether two numbers may be the same one, rounded to different digits. */
function sameRounded(one, other) {
  const tolerance = one.unit === other.unit ? 0 : (one.unit + other.unit) / 2;
  return Math.abs(one.value - other.value) <= tolerance + 1e-9;
}
