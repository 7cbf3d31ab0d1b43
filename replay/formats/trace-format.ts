/** Finds a trace's format by its first line, and parses it. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import type { TraceSource } from './samples.ts';
import { parseTraceCsv } from './trace-csv.ts';
import { parseCooked, parseMahimahi } from './trace-of-others.ts';

interface Format {
  firstLine: RegExp;
  parse(text: string, source: TraceSource): Trace[];
}

const CSV: Format = { firstLine: /\btime_s\b/, parse: parseTraceCsv };
const REPORTS: Format = {
  firstLine: /^\{.*"leoAbr":/,
  parse(_, { name, file = name }) {
    const expected = 'a recording, because reports are none since 0.4.0 (leo-abr trace record makes recordings)';
    throw new InputError(file, expected, undefined, 'reports of sessions');
  },
};
const FORMATS: readonly Format[] = [
  CSV,
  REPORTS,
  { firstLine: /^[\d.eE+-]+\s+[\d.eE+-]+$/, parse: (text, source) => [parseCooked(text, source)] },
  { firstLine: /^\d+$/, parse: (text, source) => [parseMahimahi(text, source)] },
];

/** Names such as Pensieve's `report.2010-09-28_1407CEST` have dots but no ending. */
const ENDINGS = /(?<=[^/\\])\.(csv|cooked|mahimahi|mahi|up|down|txt|log|dat|trace)$/i;

/** Finds the format by the first nonempty line, else by the ending `.csv`; undefined: no trace. */
function formatOf(file: string, text: string): Format | undefined {
  const firstLine = /\S[^\n]*/.exec(text.slice(0, 4096).replace(/^\ufeff/, ''))?.[0].trim() ?? '';
  return FORMATS.find((format) => format.firstLine.test(firstLine)) ?? (/\.csv$/i.test(file) ? CSV : undefined);
}

export const isTrace = (file: string, beginning: string): boolean => formatOf(file, beginning) !== undefined;

/** The traces in a text: several for a CSV with gaps. */
export function parseTraces(text: string, source: TraceSource): Trace[] {
  const file = source.file ?? source.name;
  const format = formatOf(file, text);
  if (format !== undefined) return format.parse(text, source);
  const expected = 'a trace (CSV with a header time_s,throughput_mbps; "time Mbps"; or milliseconds)';
  throw new InputError(placeOf({ file, line: 1 }), expected, text.slice(0, 200).trim().split('\n')[0]);
}

/** The trace's name: the file's name without folder and ending. */
export function traceNameOf(file: string): string {
  return file.replace(/^.*[/\\]/, '').replace(ENDINGS, '');
}
