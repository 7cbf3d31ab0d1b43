/**
 * The place of an invalid value in the input, for the `field` of an `InputError`: `trace.csv:12: throughput_mbps`.
 * `line` counts from 1; `field` is a column of a table, a key of a JSON document (`a.b[2]`) or a flag.
 */
export function placeOf({
  file,
  line,
  field,
}: Partial<Record<'file' | 'field', string | undefined>> & { line?: number | undefined }): string {
  const place = line === undefined ? file : `${file ?? 'line'}:${line}`;
  return [place, field].filter((part) => part !== undefined).join(': ') || 'input';
}
