/**
 * Where in the input something is wrong, as the `field` of an `InputError`: `trace.csv:12: throughput_mbps`.
 * `line` counts from 1; `field` is the column of a table, the key of a JSON document (`a.b[2]`) or a flag.
 */
export function placeOf({
  file,
  line,
  field,
}: Partial<Record<'file' | 'field', string | undefined>> & { line?: number | undefined }): string {
  const place = line === undefined ? file : `${file ?? 'line'}:${line}`;
  return [place, field].filter((part) => part !== undefined).join(': ') || 'input';
}
