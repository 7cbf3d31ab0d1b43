/**
 * The project's CSV: a header, then one row per sample. Columns `time_s` and `throughput_mbps` (blank = unknown),
 * optionally `rtt_ms` and `loss` (0 to 1), in any order. A sample holds until the next one's time. Browser-safe.
 */

import { describeValue, InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalAt } from './decimal.ts';
import { GrowingColumn } from './growing-column.ts';
import { eachLine, isSpace } from './lines.ts';
import { placeOf } from './place.ts';
import { type TraceSource, tracesFromSamples } from './samples.ts';
import { defaultMetadata } from './sidecar.ts';

const COLUMNS = ['time_s', 'throughput_mbps', 'rtt_ms', 'loss'] as const;
type ColumnName = (typeof COLUMNS)[number];

/**
 * The trace in a CSV, or one trace per part if it has gaps (see `tracesFromSamples`). `source` is the name, or the name
 * with metadata.
 * @throws {InputError} with line and field.
 */
export function parseTraceCsv(text: string, source: string | TraceSource): Trace[] {
  const resolved: TraceSource =
    typeof source === 'string' ? { name: source, metadata: defaultMetadata(source) } : source;
  const file = resolved.file ?? resolved.name;
  let header: ColumnName[] | undefined;
  const columns: Record<ColumnName, GrowingColumn> = {
    time_s: new GrowingColumn(),
    throughput_mbps: new GrowingColumn(),
    rtt_ms: new GrowingColumn(),
    loss: new GrowingColumn(),
  };

  eachLine(text, (start, end, line) => {
    if (header === undefined) {
      header = headerAt(text.slice(start, end), file, line);
      return;
    }
    let at = start;
    for (let i = 0; i < header.length; i++) {
      const field = header[i]!;
      const comma = text.indexOf(',', at);
      const isLast = i === header.length - 1;
      if (isLast !== (comma === -1 || comma >= end)) {
        const got = text.slice(start, end).split(',').length;
        throw new InputError(
          placeOf({ file, line, field: isLast ? undefined : header[i + 1] }),
          `${header.length} columns (${header.join(',')})`,
          undefined,
          `${got}: ${describeValue(text.slice(start, end))}`,
        );
      }
      let from = at;
      let to = isLast ? end : comma;
      while (from < to && isSpace(text.charCodeAt(from))) from++;
      while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
      const value = from === to ? Number.NaN : decimalAt(text, from, to);
      if (Number.isNaN(value) ? from !== to || field === 'time_s' : value < 0 || (field === 'loss' && value > 1)) {
        throw new InputError(placeOf({ file, line, field }), EXPECTED[field], text.slice(from, to));
      }
      if (field === 'time_s') {
        const previous = columns.time_s.last();
        if (previous !== undefined && value <= previous) {
          throw new InputError(placeOf({ file, line, field }), `a time after ${previous}`, value);
        }
      }
      columns[field].push(value);
      at = comma + 1;
    }
  });

  if (header === undefined) throw new InputError(file, `a header (${COLUMNS.join(',')})`, '');
  if (columns.time_s.length === 0) throw new InputError(file, 'at least one sample', undefined, 'a header only');
  const scaled = (column: GrowingColumn, factor: number) => {
    const values = column.toArray();
    for (let i = 0; i < values.length; i++) values[i] = values[i]! * factor;
    return values;
  };
  return tracesFromSamples(
    {
      timesSeconds: columns.time_s.toArray(),
      ratesBps: scaled(columns.throughput_mbps, 1e6),
      rttSeconds: scaled(columns.rtt_ms, 1e-3),
      loss: columns.loss.toArray(),
    },
    resolved,
  );
}

const EXPECTED: Record<ColumnName, string> = {
  time_s: 'a time in seconds, >= 0',
  throughput_mbps: 'a rate in Mbit/s, >= 0 (blank = unknown)',
  rtt_ms: 'a round-trip time in ms, >= 0 (blank = unknown)',
  loss: 'a share of lost packets from 0 to 1 (blank = unknown)',
};

function headerAt(text: string, file: string, line: number): ColumnName[] {
  const names = text.split(',').map((name) => name.trim());
  const known = names.filter((name): name is ColumnName => (COLUMNS as readonly string[]).includes(name));
  const complete = known.includes('time_s') && known.includes('throughput_mbps');
  if (!complete || known.length !== names.length || new Set(names).size !== names.length) {
    throw new InputError(
      placeOf({ file, line }),
      'the header time_s,throughput_mbps, with or without rtt_ms and loss',
      text,
    );
  }
  return known;
}

/**
 * The trace as CSV, with a precision of 1 us, 1 bit/s and 1e-6 of loss. Parsing it gives the same steps, except that
 * the last step gets the length of the others (a CSV has no end time).
 */
export function formatTraceCsv(trace: Trace): string {
  const { stepEndsSeconds, ratesBps, rttSeconds, loss } = trace;
  const lines = [COLUMNS.join(',')];
  let startSeconds = 0;
  for (let i = 0; i < stepEndsSeconds.length; i++) {
    const rttMs = decimal((rttSeconds?.[i] ?? Number.NaN) * 1e3, 3);
    lines.push([decimal(startSeconds), decimal(ratesBps[i]! / 1e6), rttMs, decimal(loss?.[i] ?? Number.NaN)].join(','));
    startSeconds = stepEndsSeconds[i]!;
  }
  return `${lines.join('\n')}\n`;
}

/** A number without exponent or trailing zeros; NaN is blank. */
function decimal(value: number, places = 6): string {
  return Number.isNaN(value) ? '' : value.toFixed(places).replace(/\.?0+$/, '');
}
