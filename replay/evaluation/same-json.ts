import { isDeepStrictEqual } from 'node:util';

/** Whether two values are equal as JSON; the order of keys is ignored, and `undefined` equals an absent key. */
export function sameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(asJson(a), asJson(b));
}

const asJson = (value: unknown): unknown => (value === undefined ? value : JSON.parse(JSON.stringify(value)));
