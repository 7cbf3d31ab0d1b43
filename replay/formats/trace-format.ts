/** Which format a trace has, by the file's ending or else by its content; and one parser and writer for all. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import type { TraceSource } from './samples.ts';
import { formatCooked, parseCooked } from './trace-cooked.ts';
import { formatTraceCsv, parseTraceCsv } from './trace-csv.ts';
import { formatMahimahi, parseMahimahi } from './trace-mahimahi.ts';

export type TraceFormat = 'csv' | 'cooked' | 'mahimahi';
export const TRACE_FORMATS: readonly TraceFormat[] = ['csv', 'cooked', 'mahimahi'];

const FORMAT_OF_ENDING: Readonly<Record<string, TraceFormat>> = {
  csv: 'csv',
  cooked: 'cooked',
  mahimahi: 'mahimahi',
  mahi: 'mahimahi',
  up: 'mahimahi',
  down: 'mahimahi',
};

/** Endings of files that may be traces of any format: their content decides. `''`: no ending at all. */
const UNDECIDED_ENDINGS = ['', 'txt', 'log', 'dat', 'trace'];

/** The ending of each format's files when written. */
export const ENDING_OF_FORMAT: Readonly<Record<TraceFormat, string>> = {
  csv: 'csv',
  cooked: 'cooked',
  mahimahi: 'mahimahi',
};

/** `known`: the ending says the format; `maybe`: the content must; `no`: never a trace (a sidecar, a picture ...). */
export function formatByEnding(
  fileName: string,
): { is: 'known'; format: TraceFormat } | { is: 'maybe' } | { is: 'no' } {
  const ending = endingOf(fileName);
  const format = FORMAT_OF_ENDING[ending];
  if (format !== undefined) return { is: 'known', format };
  // Names such as Pensieve's `report.2010-09-28_1407CEST` have dots but no ending.
  return UNDECIDED_ENDINGS.includes(ending) || !/^[a-z]\w{0,9}$/.test(ending) ? { is: 'maybe' } : { is: 'no' };
}

/** The format that the first non-empty line looks like; undefined where it is none. */
export function formatByContent(text: string): TraceFormat | undefined {
  const firstLine = /\S[^\n]*/.exec(text.slice(0, 4096).replace(/^\ufeff/, ''))?.[0].trim() ?? '';
  if (/^\d+$/.test(firstLine)) return 'mahimahi';
  if (/^[\d.eE+-]+\s+[\d.eE+-]+$/.test(firstLine)) return 'cooked';
  if (/\btime_s\b/.test(firstLine)) return 'csv';
  return undefined;
}

/** The traces in a text (several where a CSV has gaps). Without `format` the name's ending decides, else the content. */
export function parseTraces(text: string, source: TraceSource, format?: TraceFormat): Trace[] {
  const file = source.file ?? source.name;
  const byEnding = formatByEnding(file);
  const decided = format ?? (byEnding.is === 'known' ? byEnding.format : formatByContent(text));
  switch (decided) {
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

/** The trace as a text of that format. */
export function formatTrace(trace: Trace, format: TraceFormat): string {
  if (format === 'csv') return formatTraceCsv(trace);
  return format === 'cooked' ? formatCooked(trace) : formatMahimahi(trace);
}

/** A file's name without folder and ending: what a trace is called. */
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
