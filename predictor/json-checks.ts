/** Checks on the JSON of model files. Each throws an `InputError` whose field is `where`. */

import { InputError } from '../abr/errors.ts';

export function requireObject(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InputError(where, 'an object', value);
}

export function requireNonEmptyArray(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw new InputError(where, 'an array that is not empty', value);
}

/** Ascending numbers above 0 and below `limit`. */
export function requireAscending(value: unknown, where: string, limit: number): number[] {
  let least = 0;
  return requireNonEmptyArray(value, where).map((number, i) => {
    if (typeof number !== 'number' || !(number > least && number < limit)) {
      throw new InputError(`${where}[${i}]`, `a number above ${least} and below ${limit}`, number);
    }
    least = number;
    return number;
  });
}

export function requireRankCorrelation(value: unknown, where: string): number {
  if (typeof value === 'number' && value >= 0 && value < 1) return value;
  throw new InputError(where, 'a number from 0 to below 1', value);
}
