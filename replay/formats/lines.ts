/** The lines and numbers of trace files. */

/** The lines of a text without surrounding spaces, with their numbers from 1; empty lines at the end are left out. */
export function* linesOf(text: string): Generator<[line: string, number: number]> {
  const content = text.replace(/^\ufeff/, '').trimEnd();
  if (content === '') return;
  let number = 0;
  for (const line of content.split('\n')) yield [line.trim(), ++number];
}

/** A finite decimal number; NaN for anything else (`Number` alone would accept `''`, `0x10` and `Infinity`). */
export function decimalOf(text: string): number {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}
