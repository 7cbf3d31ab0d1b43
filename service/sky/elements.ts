/** Parses two-line elements (TLE) of satellites. Skips and counts invalid lines. */

import { InputError } from '../../abr/errors.ts';

export interface Elements {
  name: string;
  line1: string;
  line2: string;
  /** UTC in ms. */
  epochMs: number;
}

export interface ElementSet {
  /** The newest of each satellite. */
  elements: Elements[];
  /** Newest epoch, UTC in ms. */
  newestMs: number;
  /** Lines that belong to no valid elements. */
  skippedLines: number;
}

/** More than twice all catalogued satellites. */
const MOST_SATELLITES = 100_000;
const LINE_LENGTH = 69;

/**
 * Parses elements with or without name lines, as CelesTrak and Space-Track publish them. Throws an `InputError` with
 * `source` if the text has no valid elements.
 */
export function parseElements(text: string, source: string): ElementSet {
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const byNumber = new Map<string, Elements>();
  let newestMs = Number.NEGATIVE_INFINITY;
  let used = 0;
  for (let i = 0; i + 1 < lines.length; i++) {
    const line1 = lines[i]!;
    const line2 = lines[i + 1]!;
    if (!isLine(line1, '1') || !isLine(line2, '2') || line1.slice(2, 7) !== line2.slice(2, 7)) continue;
    const epochMs = epochOf(line1);
    const number = line1.slice(2, 7);
    const before = i > 0 ? lines[i - 1]! : '';
    const hasName = before !== '' && !/^[12] /.test(before);
    used += hasName ? 3 : 2;
    i++;
    if (Number.isNaN(epochMs) || byNumber.size >= MOST_SATELLITES) continue;
    newestMs = Math.max(newestMs, epochMs);
    const known = byNumber.get(number);
    if (known !== undefined && known.epochMs >= epochMs) continue;
    const name = hasName ? before.replace(/^0 /, '').trim().slice(0, 40) : `NORAD ${number.trim()}`;
    byNumber.set(number, { name, line1, line2, epochMs });
  }
  if (byNumber.size === 0) {
    const expected = 'two-line elements (lines of 69 characters that begin with 1 and 2)';
    // Not quoted: the text may be a page that repeats a password.
    throw new InputError(source, expected, `none in ${lines.filter((line) => line !== '').length} lines`);
  }
  return {
    elements: [...byNumber.values()],
    newestMs,
    skippedLines: lines.filter((line) => line !== '').length - used,
  };
}

/** Checks kind, length and checksum: the last digit is the sum of the others (a minus counts as one) modulo ten. */
function isLine(line: string, kind: '1' | '2'): boolean {
  if (line.length !== LINE_LENGTH || !line.startsWith(`${kind} `)) return false;
  let sum = 0;
  for (let i = 0; i < LINE_LENGTH - 1; i++) {
    const digit = line.charCodeAt(i) - 48;
    if (digit >= 0 && digit <= 9) sum += digit;
    else if (line[i] === '-') sum++;
  }
  return line.charCodeAt(LINE_LENGTH - 1) - 48 === sum % 10;
}

/** Columns 19 to 32: two digits of the year (1957 to 2056) and the fractional day of the year. */
function epochOf(line1: string): number {
  const text = line1.slice(18, 32);
  if (!/^\d{2}[ \d]\d{2}\.\d{8}$/.test(text)) return Number.NaN;
  const short = Number(text.slice(0, 2));
  const day = Number(text.slice(2));
  return day >= 1 && day < 367
    ? Date.UTC(short < 57 ? 2000 + short : 1900 + short, 0, 1) + (day - 1) * 86_400_000
    : Number.NaN;
}
