/** Determines a trace's format from the file's ending or its content, and parses it. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import type { TraceSource } from './samples.ts';
import { parseCooked } from './trace-cooked.ts';
import { parseTraceCsv } from './trace-csv.ts';
import { parseMahimahi } from './trace-mahimahi.ts';

const TRACE_FORMATS = ['csv', 'cooked', 'mahimahi'] as const;
type TraceFormat = (typeof TRACE_FORMATS)[number];

interface Format {
  endings: readonly string[];
  /** The first line of a trace. */
  firstLine: RegExp;
  parse(text: string, source: TraceSource): Trace[];
}

const FORMATS: Readonly<Record<TraceFormat, Format>> = {
  csv: { endings: ['csv'], firstLine: /\btime_s\b/, parse: parseTraceCsv },
  cooked: {
    endings: ['cooked'],
    firstLine: /^[\d.eE+-]+\s+[\d.eE+-]+$/,
    parse: (text, source) => [parseCooked(text, source)],
  },
  mahimahi: {
    endings: ['mahimahi', 'mahi', 'up', 'down'],
    firstLine: /^\d+$/,
    parse: (text, source) => [parseMahimahi(text, source)],
  },
};

/** Files with these endings (`''`: none) may be traces of any format. */
const UNDECIDED_ENDINGS = ['', 'txt', 'log', 'dat', 'trace'];

/** `undecided`: the content determines the format; undefined: not a trace (a sidecar, a picture ...). */
export function formatByEnding(fileName: string): TraceFormat | 'undecided' | undefined {
  const ending = endingOf(fileName);
  const format = TRACE_FORMATS.find((name) => FORMATS[name].endings.includes(ending));
  if (format !== undefined) return format;
  // Names such as Pensieve's `report.2010-09-28_1407CEST` have dots but no ending.
  return UNDECIDED_ENDINGS.includes(ending) || !/^[a-z]\w{0,9}$/.test(ending) ? 'undecided' : undefined;
}

/** The format of the first non-empty line; undefined for no trace. */
export function formatByContent(text: string): TraceFormat | undefined {
  const firstLine = /\S[^\n]*/.exec(text.slice(0, 4096).replace(/^\ufeff/, ''))?.[0].trim() ?? '';
  return TRACE_FORMATS.find((name) => FORMATS[name].firstLine.test(firstLine));
}

/** The traces in a text (several for a CSV with gaps). The file's ending determines the format, else the content. */
export function parseTraces(text: string, source: TraceSource): Trace[] {
  const file = source.file ?? source.name;
  const byEnding = formatByEnding(file) ?? 'undecided';
  const format = byEnding === 'undecided' ? formatByContent(text) : byEnding;
  if (format !== undefined) return FORMATS[format].parse(text, source);
  const expected = 'a trace (CSV with a header time_s,throughput_mbps; "time Mbps"; or milliseconds)';
  throw new InputError(placeOf({ file, line: 1 }), expected, text.slice(0, 200).trim().split('\n')[0]);
}

/** The trace's name: the file's name without folder and ending. */
export function traceNameOf(file: string): string {
  const fileName = file.replace(/^.*[/\\]/, '');
  const ending = endingOf(fileName);
  const isEnding =
    TRACE_FORMATS.some((name) => FORMATS[name].endings.includes(ending)) || UNDECIDED_ENDINGS.includes(ending);
  return isEnding && ending !== '' ? fileName.slice(0, -ending.length - 1) : fileName;
}

function endingOf(fileName: string): string {
  const [, ending = ''] = /[^/\\]\.([^./\\]*)$/.exec(fileName) ?? [];
  return ending.toLowerCase();
}
