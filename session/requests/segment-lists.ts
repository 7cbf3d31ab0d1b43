/** Files with a number for each segment, by representation. */

import { check, InputError } from '../../abr/errors.ts';
import type { Host } from '../host.ts';

/** How a file is read: where its lists are, and what they hold. */
export interface SegmentLists {
  /** In errors: `sizes`. */
  name: string;
  /** The list in an entry of `representations`. */
  listOf(entry: never): unknown;
  /** `bytes from 1 to 1e12` */
  expected: string;
  holds(value: number): boolean;
}

/** Returns a valid parsed file; throws an `InputError` that names the first wrong field. */
export function parseLists<T>(value: unknown, { name, listOf, expected, holds }: SegmentLists): T {
  const { representations, firstIndex = 0 } = (value || {}) as { representations?: object; firstIndex?: number };
  const entries = Object.entries(representations || {});
  check(Number.isInteger(firstIndex), `${name}.firstIndex`, 'a whole number', firstIndex);
  check(entries.length > 0, `${name}.representations`, `${expected} by id`, value);
  for (const [id, entry] of entries) {
    const field = `${name}.representations.${id}`;
    const list = listOf(entry as never);
    check(Array.isArray(list), field, `an array of ${expected}`, list);
    for (const [i, one] of list.entries()) check(Number.isFinite(one) && holds(one), `${field}[${i}]`, expected, one);
  }
  return value as T;
}

/** Fetches a file if given its URL; throws an `InputError` that names it. Others are valid. */
export async function loadLists<T>(
  given: T | string | URL,
  { fetch }: Pick<Host, 'fetch'>,
  lists: SegmentLists,
): Promise<T> {
  if (typeof given !== 'string' && !(given instanceof URL)) return given;
  try {
    const response = await fetch(given);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return parseLists(await response.json(), lists);
  } catch (error) {
    throw new InputError(String(given), `segment ${lists.name}`, error);
  }
}
