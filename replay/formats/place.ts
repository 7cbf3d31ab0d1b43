/**
 * The place of an invalid value in the input, for the `field` of an `InputError`: `trace.csv:12: throughput_mbps`.
 * `line` counts from 1; `field` is a column of a table, a key of a JSON document (`a.b[2]`) or a flag.
 */
export function placeOf(at: {
  file?: string | undefined;
  line?: number | undefined;
  field?: string | undefined;
}): string {
  const place = at.line === undefined ? at.file : `${at.file ?? 'line'}:${at.line}`;
  return [place, at.field].filter((part) => part !== undefined).join(': ') || 'input';
}
