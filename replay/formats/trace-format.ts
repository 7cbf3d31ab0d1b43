/** Determines a trace's format from the file's ending or its content; parses and writes all formats. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import type { TraceSource } from './samples.ts';
import { formatCooked, parseCooked } from './trace-cooked.ts';
import { formatTraceCsv, parseTraceCsv } from './trace-csv.ts';
import { formatMahimahi, parseMahimahi } from './trace-mahimahi.ts';

/** The formats; each is also the ending of written files. */
export const TRACE_FORMATS = ['csv', 'cooked', 'mahimahi'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

const FORMAT_OF_ENDING: Readonly<Record<string, TraceFormat>> = {
  csv: 'csv',
  cooked: 'cooked',
  mahimahi: 'mahimahi',
  mahi: 'mahimahi',
  up: 'mahimahi',
  down: 'mahimahi',
};

/** Files with these endings (`''`: none) may be traces of any format. */
const UNDECIDED_ENDINGS = ['', 'txt', 'log', 'dat', 'trace'];

/** `undecided`: the content determines the format; undefined: not a trace (a sidecar, a picture ...). */
export function formatByEnding(fileName: string): TraceFormat | 'undecided' | undefined {
  const ending = endingOf(fileName);
  const format = FORMAT_OF_ENDING[ending];
  if (format !== undefined) return format;
  // Names such as Pensieve's `report.2010-09-28_1407CEST` have dots but no ending.
  return UNDECIDED_ENDINGS.includes(ending) || !/^[a-z]\w{0,9}$/.test(ending) ? 'undecided' : undefined;
}

/** The format of the first non-empty line; undefined for no trace. */
export function formatByContent(text: string): TraceFormat | undefined {
  const firstLine = /\S[^\n]*/.exec(text.slice(0, 4096).replace(/^\ufeff/, ''))?.[0].trim() ?? '';
  if (/^\d+$/.test(firstLine)) return 'mahimahi';
  if (/^[\d.eE+-]+\s+[\d.eE+-]+$/.test(firstLine)) return 'cooked';
  if (/\btime_s\b/.test(firstLine)) return 'csv';
  return undefined;
}

/** The traces in a text (several for a CSV with gaps). The file's ending determines the format, else the content. */
export function parseTraces(text: string, source: TraceSource): Trace[] {
  const file = source.file ?? source.name;
  const byEnding = formatByEnding(file) ?? 'undecided';
  switch (byEnding === 'undecided' ? formatByContent(text) : byEnding) {
    case 'csv':
      return parseTraceCsv(text, source);
    case 'cooked':
      return [parseCooked(text, source)];
    case 'mahimahi':
      return [parseMahimahi(text, source)];
    case undefined: {
      const firstLine = text.slice(0, 200).trim().split('\n')[0] ?? '';
      throw new InputError(
        placeOf({ file, line: 1 }),
        'a trace (CSV with a header time_s,throughput_mbps; "time Mbps"; or milliseconds)',
        firstLine,
      );
    }
  }
}

export function formatTrace(trace: Trace, format: TraceFormat): string {
  if (format === 'csv') return formatTraceCsv(trace);
  return format === 'cooked' ? formatCooked(trace) : formatMahimahi(trace);
}

/** The trace's name: the file's name without folder and ending. */
export function traceNameOf(file: string): string {
  const fileName = file.replace(/^.*[/\\]/, '');
  const ending = endingOf(fileName);
  const isEnding = ending !== '' && (FORMAT_OF_ENDING[ending] !== undefined || UNDECIDED_ENDINGS.includes(ending));
  return isEnding ? fileName.slice(0, -ending.length - 1) : fileName;
}

function endingOf(fileName: string): string {
  const baseName = fileName.replace(/^.*[/\\]/, '');
  const dot = baseName.lastIndexOf('.');
  return dot <= 0 ? '' : baseName.slice(dot + 1).toLowerCase();
}
