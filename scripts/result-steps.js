/**
 * The results that the tables of docs/ state: docs/results/<step>.json. A step has
 * - `does` in words, `minutes` on two idle cores, and `gigabytes` of results
 * - `recordings`: folders and files of the data folder ($DATA) that it plays. $TRACES has a `--traces` for each
 * - `needs`: `python` (trains models), `browser` (plays in real time) or `cargo`. Default: only the simulator
 * - `commands` for bash, each a list of lines. They run from the checkout. Results go to $OUT. $OWN has a comma and the
 *   path for each algorithm of the user's own
 * - `tables` by name, with their source `files` in $OUT, their `rows`, and each of their `columns` with its number of
 *   digits (null: the column identifies the row, "text": it has a name). A cell is a number, an estimate
 *   [value, low, high], or null if it is not stated. With `"compare": "interval"` a new value may lie anywhere in its
 *   cell's interval, and cells without an interval may differ. With `"rankedBy": <column>` its highest value comes first,
 *   among rows with the same first column.
 *   Without `files` the rows are what others have published.
 * - `played`: the day and the programs of the rows
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './command-line.js';

/** This file in a folder of results describes the run. */
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

/** The table's rows from the results in a folder, in the order of `rows`. A row that they lack is undefined. */
export async function rowsNow({ files, columns, rows }, folder) {
  // The import is here, because it loads the bundler.
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

/** The rows, and for each algorithm of the user's own a row beside each of MPC-L's. */
export function rowsToPlay({ columns, rows }, own) {
  const place = Object.keys(columns).indexOf('algorithm');
  const added = own.filter((name) => rows.every((row) => row[place] !== name));
  const rowOf = (row, name) =>
    Object.values(columns).map((digits, i) => (i === place ? name : digits === null ? row[i] : null));
  return [
    ...rows,
    ...added.flatMap((name) => rows.filter((row) => row[place] === 'mpc-l').map((row) => rowOf(row, name))),
  ];
}

/** The rows `now`, or the table's if they were not played. */
export function ranked({ columns, rows, rankedBy }, now) {
  const place = Object.keys(columns).indexOf(rankedBy);
  const all = rows.map((row, i) => now[i] ?? row);
  const parts = [...new Set(all.map(([part]) => part))];
  const compare = (a, b) => parts.indexOf(a[0]) - parts.indexOf(b[0]) || (b[place] ?? 0) - (a[place] ?? 0);
  return place < 0 ? all : all.sort(compare);
}

/** The day, and the versions of the programs that made the results in a folder. */
export function playedWith(folder, { needs }) {
  const versionOf = (path) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')).version;
  const programs = [`leo-abr ${versionOf('.')}`];
  if (needs === 'browser') {
    const file = readdirSync(folder).find((name) => name.endsWith('.json') && name !== MANIFEST);
    const { parts } = JSON.parse(readFileSync(join(folder, file), 'utf8')).tool.bench;
    const players = { 'dash.js': 'dashjs', 'hls.js': 'hls.js', 'Shaka Player': 'shaka-player' };
    const versions = Object.entries(players).map(([name, path]) => `${name} ${versionOf(join('node_modules', path))}`);
    programs.push(...versions, `Chromium ${parts[0].environment.browser}`);
  }
  return `${new Date().toISOString().slice(0, 10)}, ${programs.join(', ')}`;
}

/** Leaves out rows of the data sets `without`, which were not played. Throws if another row is missing. */
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
