/**
 * Reads round-trip times without throughput, from pings or dish telemetry: CSV whose header has `time_s` or `unix_s`,
 * and `rtt_ms` or `pop_ping_ms`. Other columns and blank values are ignored.
 */

import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { defaultMetadata } from '../../replay/formats/sidecar.ts';
import { metadataBeside, traceFilesAt } from '../../replay/formats/trace-files.ts';
import { HISTORY_SECONDS, type PointSeries } from './point-scores.ts';

const TIMES = ['time_s', 'unix_s'];
const VALUES = ['rtt_ms', 'pop_ping_ms'];
/** Longer recordings are cut, because more than an hour of a place adds little. */
const LONGEST_SECONDS = 3600;

/** One series per file. Without a sidecar, the name of its folder is its data set and place. */
export function readLatencySeries(paths: readonly string[]): PointSeries[] {
  return paths.flatMap((path) => {
    const files = traceFilesAt(path).filter((file) => file === path || file.endsWith('.csv'));
    if (files.length === 0) throw new InputError(path, 'CSV files', undefined, 'none in it');
    return files.flatMap(readFile);
  });
}

function readFile(file: string): PointSeries[] {
  const [header = '', ...lines] = readFileSync(file, 'utf8').split(/\r?\n/);
  const columns = header.split(',').map((name) => name.trim());
  const columnOf = (names: readonly string[]) => {
    const column = columns.findIndex((name) => names.includes(name));
    if (column >= 0) return column;
    throw new InputError(placeOf({ file, line: 1 }), `a column ${names.join(' or ')}`, header);
  };
  const [timeColumn, valueColumn] = [columnOf(TIMES), columnOf(VALUES)];
  let begin = Number.NaN;
  const sums: number[] = [];
  const counts: number[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const cells = line.split(',');
    const number = (column: number) => {
      const value = Number(cells[column]);
      if (cells[column] !== undefined && Number.isFinite(value)) return value;
      throw new InputError(placeOf({ file, line: i + 2, field: columns[column] }), 'a number', cells[column]);
    };
    const time = number(timeColumn);
    if (Number.isNaN(begin)) begin = time;
    const second = Math.floor(time - begin);
    if (second >= LONGEST_SECONDS) break;
    if (second < 0)
      throw new InputError(placeOf({ file, line: i + 2, field: columns[timeColumn] }), 'rising times', time);
    if (cells[valueColumn]?.trim() === '') continue;
    sums[second] = (sums[second] ?? 0) + number(valueColumn);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  // A second without an answer repeats the one before, so that a lost ping does not end a recording.
  const values: number[] = [];
  for (let second = 0; second < sums.length; second++) {
    const value = counts[second] === undefined ? values[second - 1] : sums[second]! / counts[second]!;
    if (value === undefined) return [];
    values.push(value);
  }
  if (values.length < 2 * HISTORY_SECONDS) return [];
  const folder = basename(dirname(file));
  const { dataset, recordingGroup, location, startUtcMs } = metadataBeside(file, '');
  const known = dataset === defaultMetadata('').dataset ? folder : dataset;
  const clock = columns[timeColumn] === 'unix_s' ? begin * 1000 : startUtcMs;
  const epochSecond = clock === undefined ? null : (clock / 1000) % EPOCH_SECONDS;
  return [{ dataset: known, group: recordingGroup || location || known, kind: 'latency', values, epochSecond }];
}
