/** A line per row: the first `textColumns` columns are aligned to the left, the others to the right. */
export function textTable(rows: readonly (readonly string[])[], textColumns: number): string[] {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]!.length))) ?? [];
  return rows.map((row) =>
    row
      .map((text, i) => (i < textColumns ? text.padEnd(widths[i]!) : text.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}
