/** The project's CSV: `time_s`, `throughput_mbps` (blank = unknown), `rtt_ms`, `loss`. Browser-safe. */

import { describeValue, InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalOf, linesOf } from './lines.ts';
import { placeOf } from './place.ts';
import { MOST_MBPS, type Samples, type TraceSource, tracesFromSamples } from './samples.ts';
import { defaultMetadata } from './sidecar.ts';

const COLUMNS = ['time_s', 'throughput_mbps', 'rtt_ms', 'loss'] as const;
type ColumnName = (typeof COLUMNS)[number];

/** Returns the trace, or a trace per part between gaps. `source`: the trace's name, or name and metadata. */
export function parseTraceCsv(text: string, source: string | TraceSource): Trace[] {
  const resolved = typeof source === 'string' ? { name: source, metadata: defaultMetadata(source) } : source;
  const { name, file = name }: TraceSource = resolved;
  let header: ColumnName[] | undefined;
  const columns: Record<ColumnName, number[]> = { time_s: [], throughput_mbps: [], rtt_ms: [], loss: [] };
  for (const [row, line] of linesOf(text)) {
    if (header === undefined) {
      header = headerIn(row, file, line);
      continue;
    }
    const cells = row.split(',');
    if (cells.length !== header.length) {
      const expected = `${header.length} columns (${header.join(',')})`;
      const got = `${cells.length}: ${describeValue(row)}`;
      throw new InputError(placeOf({ file, line, field: header[cells.length] }), expected, undefined, got);
    }
    for (const [i, field] of header.entries()) {
      const cell = cells[i]!.trim();
      const value = decimalOf(cell);
      if (Number.isNaN(value) ? cell !== '' || field === 'time_s' : value < 0 || value > MOST[field]) {
        throw new InputError(placeOf({ file, line, field }), EXPECTED[field], cell);
      }
      const previous = columns.time_s.at(-1);
      if (field === 'time_s' && previous !== undefined && value <= previous) {
        throw new InputError(placeOf({ file, line, field }), `a time after ${previous}`, value);
      }
      columns[field].push(value);
    }
  }

  if (header === undefined) throw new InputError(file, `a header (${COLUMNS.join(',')})`, '');
  if (columns.time_s.length === 0) throw new InputError(file, 'at least one sample', undefined, 'a header only');
  const scaled = (column: readonly number[], factor: number) => Float64Array.from(column, (value) => value * factor);
  const samples = {
    timesSeconds: Float64Array.from(columns.time_s),
    ratesBps: scaled(columns.throughput_mbps, 1e6),
    rttSeconds: scaled(columns.rtt_ms, 1e-3),
    loss: Float64Array.from(columns.loss),
  };
  return tracesFromSamples(samples, resolved);
}

const MOST = { time_s: Number.MAX_VALUE, throughput_mbps: MOST_MBPS, rtt_ms: Number.MAX_VALUE, loss: 1 };

const EXPECTED: Record<ColumnName, string> = {
  time_s: 'a time in seconds, >= 0',
  throughput_mbps: 'a rate in Mbit/s, 0 to 1e6 (blank = unknown)',
  rtt_ms: 'a round-trip time in ms, >= 0 (blank = unknown)',
  loss: 'a share of lost packets from 0 to 1 (blank = unknown)',
};

function headerIn(text: string, file: string, line: number): ColumnName[] {
  const names = text.split(',').map((name) => name.trim());
  const known = names.filter((name): name is ColumnName => (COLUMNS as readonly string[]).includes(name));
  const complete = known.includes('time_s') && known.includes('throughput_mbps');
  if (!complete || known.length !== names.length || new Set(names).size !== names.length) {
    const expected = 'the header time_s,throughput_mbps, with or without rtt_ms and loss';
    throw new InputError(placeOf({ file, line }), expected, text);
  }
  return known;
}

/** Formats exactly to 1 us, 1 bit/s and 1e-6 of loss, but without the last step's end, which a CSV cannot hold. */
export function formatTraceCsv({ stepEndsSeconds, ...columns }: Trace): string {
  const timesSeconds = new Float64Array(stepEndsSeconds.length);
  timesSeconds.set(stepEndsSeconds.subarray(0, -1), 1);
  return formatSamplesCsv({ timesSeconds, ...columns });
}

/** Samples as CSV with the same precision; unknown values stay blank. */
export function formatSamplesCsv({ timesSeconds, ratesBps, rttSeconds, loss }: Samples): string {
  const lines = [COLUMNS.join(',')];
  for (let i = 0; i < timesSeconds.length; i++) {
    const rttMs = decimal((rttSeconds?.[i] ?? Number.NaN) * 1e3, 3);
    const rateMbps = decimal(ratesBps[i]! / 1e6);
    lines.push([decimal(timesSeconds[i]!), rateMbps, rttMs, decimal(loss?.[i] ?? Number.NaN)].join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** A number without exponent or trailing zeros; NaN is blank. */
function decimal(value: number, places = 6): string {
  return Number.isNaN(value) ? '' : value.toFixed(places).replace(/\.?0+$/, '');
}
