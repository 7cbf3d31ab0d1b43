/**
 * The results that the tables of docs/ state: docs/results/<step>.json. A step has
 * - `does`, and how long and how large it is on two idle cores: `minutes`, `gigabytes`
 * - `recordings`: folders and files of the data folder ($DATA) that it plays; $TRACES has a `--traces` for each
 * - `needs`: `python` (trains models), `browser` (plays in real time) or `cargo`; absent: only the simulator
 * - `commands` for bash, each a list of lines, run from the checkout; results go to $OUT
 * - `tables` by name: the `files` in $OUT that they are made of, and `columns` with the number of digits of each (null: it
 *   identifies the row; "text": a name) of `rows`. A cell is a number, an estimate [value, low, high], or null: not stated.
 *   With `"compare": "interval"` a new value may lie anywhere in the interval of its cell, and cells without one may differ.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file of a folder of results that describes the run. */
export const MANIFEST = 'manifest.json';

export function readSteps(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    names.sort().map((name) => [name.slice(0, -5), JSON.parse(readFileSync(join(folder, name), 'utf8'))]),
  );
}

export function writeStep(file, step) {
  const flat = (key, value) => (key === 'rows' ? value.map((row) => JSON.stringify(row)) : value);
  const text = JSON.stringify(step, flat, 2).replace(/^( +)("\[.*\]")(,?)$/gm, (_, indent, row, comma) => {
    return indent + JSON.parse(row) + comma;
  });
  writeFileSync(file, `${text}\n`);
}

/** The table's rows from the results in a folder, in the order of `rows`; undefined where the results have none. */
export async function rowsNow({ files, columns, rows }, folder) {
  // Imported here, because it loads the bundler.
  const { bundledSources } = await import('./bundled-sources.js');
  const { resultRows } = await bundledSources('cli/benchmark/result-rows.ts');
  const patterns = files.map((file) => new RegExp(`^${file.replaceAll('.', '\\.').replace('*', '.*')}$`));
  const found = readdirSync(folder)
    .filter((name) => name !== MANIFEST && patterns.some((pattern) => pattern.test(name)))
    .flatMap((name) => resultRows(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
  const digits = Object.entries(columns);
  const rounded = (value, count) => (value === null || count === 'text' ? value : Number(value.toFixed(count)));
  return rows.map((row) => {
    const isWanted = (one) => digits.every(([name, count], i) => count !== null || one[name] === row[i]);
    const now = found.find(isWanted);
    if (now === undefined) return undefined;
    return digits.map(([name, count], i) => {
      const value = count === null ? row[i] : (now[name] ?? null);
      if (count === null) return value;
      return Array.isArray(value) ? value.map((one) => rounded(one, count)) : rounded(value, count);
    });
  });
}

/** Without the rows of data sets that were not played. Throws if another row is missing. */
export function differences({ columns, rows, compare }, now, without = []) {
  const names = Object.keys(columns);
  const place = names.indexOf('recordings');
  const played = (row) => without.length === 0 || (place >= 0 && ![...without, 'all'].includes(row[place]));
  let compared = 0;
  const lines = [];
  for (const [r, row] of rows.entries()) {
    if (!played(row)) continue;
    const key = row.filter((_, i) => columns[names[i]] === null).join(' ');
    if (now[r] === undefined) throw new Error(`no row ${key} in the results`);
    for (const [i, name] of names.entries()) {
      const [before, after] = [row[i], now[r][i]];
      const isEstimate = Array.isArray(before) && before.length === 3;
      if (columns[name] === null || before === null || (compare === 'interval' && !isEstimate)) continue;
      compared++;
      const [value] = [after].flat();
      const agrees =
        compare === 'interval'
          ? value !== null && value >= before[1] && value <= before[2]
          : JSON.stringify(before) === JSON.stringify(after);
      if (!agrees) lines.push(`${key}: ${name} is ${JSON.stringify(before)} in docs, ${JSON.stringify(after)} now`);
    }
  }
  return { compared, lines };
}
