/** Parses two-line elements (TLE) of satellites. Skips invalid lines. */

import { type SatRec, twoline2satrec } from 'satellite.js';
import { InputError } from '../../abr/errors.ts';

export interface Elements {
  name: string;
  orbit: SatRec;
  /** Time at which the elements were exact, UTC in ms. */
  epochMs: number;
}

/** Matches two lines of 69 characters with the same number, and the line with a name before them, if any. */
const PAIR =
  /(?:^|\n)(?:(?![12] )(?:0 )?(?<name>.*)\n)?(?<line1>1 (?<number>.{5}).{62}) *\n(?<line2>2 \k<number>.{62}) *(?=\n|$)/g;
/** Julian date of 1970-01-01. */
const UNIX_EPOCH_DAYS = 2_440_587.5;

/** The last digit of a line is the sum of its digits, where a minus sign counts as 1. */
function isWhole(line: string): boolean {
  const sum = [...line.slice(0, -1)].reduce((all, sign) => all + (sign === '-' ? 1 : Number(sign) || 0), 0);
  return line.at(-1) === String(sum % 10);
}

/**
 * Parses elements with or without name lines, as CelesTrak and Space-Track publish them. Returns the elements of each
 * satellite that are nearest to `nowMs`. @throws {InputError}
 */
export function parseElements(text: string, source: string, nowMs: number): Elements[] {
  const byNumber = new Map<string, Elements>();
  // Some editors begin a file with a byte order mark.
  for (const { groups } of text.replace(/[\r\ufeff]/g, '').matchAll(PAIR)) {
    const { name, number, line1, line2 } = groups as Record<'number' | 'line1' | 'line2', string> & { name?: string };
    const orbit = twoline2satrec(line1, line2);
    const epochMs = Math.round((orbit.jdsatepoch - UNIX_EPOCH_DAYS) * 86_400_000);
    const { inclo, nodeo, ecco, argpo, mo, no, bstar } = orbit;
    const isOrbit = Number.isFinite(epochMs + inclo + nodeo + ecco + argpo + mo + no + bstar) && orbit.error === 0;
    if (!isWhole(line1) || !isWhole(line2) || !isOrbit) continue;
    const known = byNumber.get(number);
    if (known !== undefined && Math.abs(nowMs - known.epochMs) <= Math.abs(nowMs - epochMs)) continue;
    byNumber.set(number, { name: name?.trim().slice(0, 40) || `NORAD ${number.trim()}`, orbit, epochMs });
  }
  if (byNumber.size > 0) return [...byNumber.values()];
  const expected = 'two-line elements (lines of 69 characters that begin with 1 and 2, with their checksums)';
  // The text is not quoted, because it may be a page that repeats a password.
  throw new InputError(source, expected, `none in ${text.split('\n').filter((line) => line !== '').length} lines`);
}
