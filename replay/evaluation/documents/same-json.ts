/** Compares values as JSON. Node only. */

import { isDeepStrictEqual } from 'node:util';

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify({ value }));

/** Whether two values are equal as JSON; the order of keys is ignored, and `undefined` equals an absent key. */
export function sameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(asJson(a), asJson(b));
}
