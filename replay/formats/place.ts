type Place = Partial<Record<'file' | 'field', string | undefined>> & { line?: number | undefined };

/** The place of an invalid value, for the `field` of an `InputError`: `trace.csv:12: throughput_mbps`. */
export function placeOf(at: Place): string {
  const place = at.line === undefined ? at.file : `${at.file ?? 'line'}:${at.line}`;
  return [place, at.field].filter((part) => part !== undefined).join(': ') || 'input';
}
