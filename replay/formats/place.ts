/** The place of an invalid value, for the `field` of an `InputError`: `trace.csv:12: throughput_mbps`. */
export function placeOf(at: {
  file?: string | undefined;
  line?: number | undefined;
  field?: string | undefined;
}): string {
  const place = at.line === undefined ? at.file : `${at.file ?? 'line'}:${at.line}`;
  return [place, at.field].filter((part) => part !== undefined).join(': ') || 'input';
}
