/** Recordings that converters make from the files of a data set, and the converters' shared parts. */

import { InputError } from '../../abr/errors.ts';
import { linesOf } from '../formats/lines.ts';
import { placeOf } from '../formats/place.ts';
import type { Samples } from '../formats/samples.ts';

export interface SourceFile {
  path: string;
  /** Name of its recording, or the beginning of the names of several. */
  name: string;
  bytes: Uint8Array;
}

export interface Recording {
  name: string;
  /** Samples from second 0. Unknown rates and round-trip times are NaN. */
  samples: Samples;
  /** UTC in ms of second 0. */
  startUtcMs?: number | undefined;
  /** Second of the minute of second 0, where the UTC itself is unknown. */
  epochPhaseSeconds?: number | undefined;
  other?: Readonly<Record<string, unknown>>;
}

/** The recordings in a file of a data set. @throws {InputError} with line and field if the file has another form. */
export type Converter = (file: SourceFile) => Recording[];

export function textOf({ bytes }: SourceFile): string {
  return new TextDecoder().decode(bytes);
}

/** The samples of a recording, to 1 kbit/s, 0.01 ms and 0.0001 of loss: no source is more precise. */
export function samplesOf(columns: {
  timesSeconds: ArrayLike<number>;
  ratesMbps: ArrayLike<number>;
  rttMs?: ArrayLike<number>;
  loss?: ArrayLike<number>;
}): Samples {
  const { timesSeconds, ratesMbps, rttMs, loss } = columns;
  const rounded = (values: ArrayLike<number>, places: number, factor: number) =>
    Float64Array.from(values, (value) => Number(value.toFixed(places)) * factor);
  return {
    timesSeconds: rounded(timesSeconds, 3, 1),
    ratesBps: rounded(ratesMbps, 3, 1e6),
    ...(rttMs && { rttSeconds: rounded(rttMs, 2, 1e-3) }),
    ...(loss && { loss: rounded(loss, 4, 1) }),
  };
}

export function gridSeconds(count: number, stepSeconds: number): number[] {
  return Array.from({ length: count }, (_, i) => i * stepSeconds);
}

export class Table {
  private readonly _header: readonly string[];
  private readonly _rows: readonly (readonly [cells: string[], line: number])[];

  constructor(
    text: string,
    private readonly _file: string,
    columns: readonly string[],
  ) {
    const lines = Array.from(linesOf(text), ([line, number]) => [line.split(','), number] as const);
    this._header = lines[0]?.[0] ?? [];
    this._rows = lines.slice(1);
    const missing = columns.find((column) => !this._header.includes(column));
    if (missing !== undefined) {
      throw new InputError(placeOf({ file: _file, line: 1 }), `a header with ${missing}`, this._header.join(','));
    }
    if (this._rows.length === 0) throw new InputError(_file, 'rows below the header', undefined, 'none');
  }

  /** A column; `read` gives undefined or NaN for an invalid cell. */
  column<T>(name: string, expected: string, read: (cell: string) => T | undefined): T[] {
    const at = this._header.indexOf(name);
    return this._rows.map(([cells, line]) => {
      const value = read(cells[at] ?? '');
      if (value === undefined || Number.isNaN(value)) {
        throw new InputError(placeOf({ file: this._file, line, field: name }), expected, cells[at] ?? '');
      }
      return value;
    });
  }

  numbers(name: string): number[] {
    return this.column(name, 'a number >= 0', (cell) => (Number(cell) >= 0 && cell !== '' ? Number(cell) : Number.NaN));
  }

  /** UTC in ms of a column of `2024-04-19 16:23:20`; the rest after the fraction of the second is ignored. */
  times(name: string, utcOffsetHours: number): number[] {
    return this.column(name, 'a time such as 2024-04-19 16:23:20', (cell) => utcMsOf(cell, utcOffsetHours));
  }
}

/** UTC in ms of `2024-04-19 16:23:20.5` on a clock `utcOffsetHours` ahead of UTC, to the microsecond; NaN if it is none. */
export function utcMsOf(text: string, utcOffsetHours: number): number {
  const [, date, time, fraction = ''] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?/.exec(text) ?? [];
  return Date.parse(`${date}T${time}Z`) + Number(`0${fraction}`) * 1000 - utcOffsetHours * 3_600_000;
}

/** `20240419T162320` of a UTC in ms. */
export function compactUtc(utcMs: number): string {
  return new Date(utcMs).toISOString().replace(/[-:]|\..*/g, '');
}

/** Rates in Mbit/s. A counter's bits count as evenly spread between readings; over three steps apart they give NaN. */
export function ratesOnGrid(
  { timesSeconds, cumulativeBits }: { timesSeconds: ArrayLike<number>; cumulativeBits: ArrayLike<number> },
  { startSeconds, stepSeconds, count }: { startSeconds: number; stepSeconds: number; count: number },
): number[] {
  const bitsAt = interpolator(timesSeconds, cumulativeBits, 3 * stepSeconds);
  const edges = Array.from({ length: count + 1 }, (_, i) => bitsAt(startSeconds + i * stepSeconds));
  return Array.from({ length: count }, (_, i) => (edges[i + 1]! - edges[i]!) / stepSeconds / 1e6);
}

/** Linear interpolation, for ascending arguments. NaN outside, and between points more than `longest` apart. */
export function interpolator(xs: ArrayLike<number>, ys: ArrayLike<number>, longest: number): (x: number) => number {
  let i = 0;
  return (x) => {
    while (i < xs.length - 2 && xs[i + 1]! <= x) i++;
    const width = xs[i + 1]! - xs[i]!;
    if (x < xs[i]! || x > xs[i + 1]! || width > longest) return Number.NaN;
    return ys[i]! + ((ys[i + 1]! - ys[i]!) * (x - xs[i]!)) / width;
  };
}
