import { isDeepStrictEqual } from 'node:util';

/** Whether two values are equal as JSON; the order of keys is ignored, and `undefined` equals an absent key. Node only. */
export function sameJson(a: unknown, b: unknown): boolean {
  const plain = (value: unknown) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return a === b || isDeepStrictEqual(plain(a), plain(b));
}
