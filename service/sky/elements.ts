/** Parses two-line elements (TLE) of satellites. Leaves out satellites with invalid lines, and says why. */

import { type SatRec, twoline2satrec } from 'satellite.js';
import { InputError } from '../../abr/errors.ts';

export interface Elements {
  name: string;
  orbit: SatRec;
  /** Time at which the elements were exact, UTC in ms. */
  epochMs: number;
}

/** What the orbit is computed from, by line: first and last column. */
const FIELDS = [
  [
    [19, 20, 'year'],
    [21, 32, 'day'],
    [54, 59, 'drag term'],
    [60, 61, 'exponent of the drag term'],
  ],
  [
    [9, 16, 'inclination'],
    [18, 25, 'right ascension'],
    [27, 33, 'eccentricity'],
    [35, 42, 'argument of perigee'],
    [44, 51, 'mean anomaly'],
    [53, 63, 'mean motion'],
  ],
] as const;
const NUMBER = /^ *[-+]?(\d+\.?\d*|\.\d+) *$/;
const LINE_LENGTH = 69;
const NAMED = 'elements after the name';
const PAIRED = 'a line 1, followed by a line 2 of the same satellite';
/** Julian date of 1970-01-01. */
const UNIX_EPOCH_DAYS = 2_440_587.5;

/**
 * Parses elements with or without name lines, as CelesTrak and Space-Track publish them. Returns the elements of each
 * satellite that are nearest to `nowMs`, and what is wrong with the rest. @throws {InputError} without valid elements.
 */
export function parseElements(text: string, source: string, nowMs: number): { set: Elements[]; fault?: string } {
  // Some editors begin a file with a byte order mark.
  const lines = text.split('\n').map((line) => line.replace('\ufeff', '').trimEnd());
  const byNumber = new Map<string, Elements>();
  let faults = 0;
  let first: string | undefined;
  // The text is not quoted, because it may be a page that repeats a password.
  const reject = (at: number, expected: string) => {
    faults++;
    first ??= `${source}:${at + 1}: expected ${expected}`;
  };
  let nameAt = -1;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line === '' || line.startsWith('#')) continue;
    const isName = !/^[12] /.test(line);
    if (isName && nameAt >= 0) reject(nameAt, NAMED);
    const name = lines[nameAt]?.replace(/^0 /, '').trim();
    nameAt = isName ? i : -1;
    if (isName) continue;
    const number = line.slice(2, 7);
    const line2 = lines[i + 1] ?? '';
    if (!line.startsWith('1 ') || !line2.startsWith(`2 ${number}`)) {
      reject(i, PAIRED);
      continue;
    }
    const fault = faultOf([line, line2]);
    const orbit = twoline2satrec(line, line2);
    const epochMs = Math.round((orbit.jdsatepoch - UNIX_EPOCH_DAYS) * 86_400_000);
    const known = byNumber.get(number);
    if (fault) reject(i + fault.line, fault.expected);
    else if (orbit.error !== 0) reject(i, 'an orbit that SGP4 can compute');
    else if (!known || Math.abs(nowMs - known.epochMs) > Math.abs(nowMs - epochMs)) {
      byNumber.set(number, { name: name?.slice(0, 40) || `NORAD ${number.trim()}`, orbit, epochMs });
    }
    i++;
  }
  if (nameAt >= 0) reject(nameAt, NAMED);
  if (byNumber.size === 0) {
    const expected = `two-line elements (lines of ${LINE_LENGTH} characters that begin with 1 and 2, with their checksums)`;
    const example = first?.endsWith(NAMED) ? undefined : first;
    const got = `none in ${lines.filter((line) => line !== '').length} lines${example ? `, the first ${example}` : ''}`;
    throw new InputError(source, expected, got, got);
  }
  const set = [...byNumber.values()];
  if (first === undefined) return { set };
  return { set, fault: `satellites are left out because of wrong lines: ${faults}, the first ${first}` };
}

/** Returns what is wrong with the line of this index; undefined if both lines are right. */
function faultOf(pair: readonly [string, string]): { line: number; expected: string } | undefined {
  for (const [line, signs] of pair.entries()) {
    const { length } = signs;
    if (length !== LINE_LENGTH) return { line, expected: `${LINE_LENGTH} characters, got ${length}` };
    for (const [from, to, name] of FIELDS[line]!) {
      const expected = `a number in columns ${from} to ${to} (${name})`;
      if (!NUMBER.test(signs.slice(from - 1, to))) return { line, expected };
    }
    // The last digit of a line is the sum of its digits, where a minus sign counts as 1.
    const sum = [...signs.slice(0, -1)].reduce((all, sign) => all + (sign === '-' ? 1 : Number(sign) || 0), 0) % 10;
    const got = signs.at(-1);
    if (got !== String(sum)) return { line, expected: `checksum ${sum} in column ${LINE_LENGTH}, got ${got}` };
  }
  return undefined;
}
