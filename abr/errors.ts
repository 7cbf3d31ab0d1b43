/** Checks of input from outside, and their error. */

/** Invalid input. The message names the field, the expectation and the received value. */
export class InputError extends Error {
  override readonly name: string = 'InputError';

  constructor(
    /** Place of the wrong value: `state.ladderBps[2]`, `--seed`, `trace.csv:12: throughput_mbps` ... */
    readonly field: string,
    /** Valid values, in words. */
    readonly expected: string,
    /** The invalid value, or the error that its use led to. */
    readonly received: unknown,
    /** Description of the invalid value. Default: the value. */
    got = describeValue(received),
  ) {
    super(`${field}: expected ${expected}, got ${got}`);
  }
}

/** Describes a value in short, with an unmistakable type; an error (of any realm) by its message. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (value === null) return 'null';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return String((value as Partial<Error>).message || 'an object');
  return String(value);
}

/** Throws unless the condition holds. */
export function check(holds: boolean, field: string, expected: string, received: unknown): asserts holds {
  if (!holds) throw new InputError(field, expected, received);
}

/** The error of an unknown name. `more`: what else is valid. */
export function unknownName(field: string, names: readonly string[], name: string, more = ''): InputError {
  const got = describeValue(name) + suggestion(names, name);
  return new InputError(field, `one of ${names.join(', ')}${more}`, name, got);
}

/** Suggests the name that is spelt like `given`; empty without one. */
export function suggestion(names: readonly string[], given: string): string {
  const distances = names.map((name) => editDistance(name.toLowerCase(), given.toLowerCase()));
  const least = Math.min(...distances);
  const name = names[distances.indexOf(least)] ?? '';
  return least <= 0.4 * name.length && name !== given ? `; did you mean ${name}?` : '';
}

/** Letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const one of a) {
    const next = [row[0]! + 1];
    for (let i = 0; i < b.length; i++) {
      next.push(Math.min(row[i]! + Number(one !== b[i]), row[i + 1]! + 1, next[i]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** Returns `value` if it is valid, as all functions `require...` do. Throws `InputError` otherwise. */
export function requireInteger(value: unknown, field: string, { min, max }: { min: number; max: number }): number {
  check(Number.isInteger(value) && isFrom(value, min, max), field, `a whole number from ${min} to ${max}`, value);
  return value as number;
}

export function requireFrom(value: unknown, field: string, min: number, max: number): number {
  check(isFrom(value, min, max), field, `a number from ${min} to ${max}`, value);
  return value;
}

/** Requires a correlation below 1, which lets ranks mix. */
export function requireCorrelation(value: unknown, field: string): number {
  check(isFrom(value, 0, 1) && value !== 1, field, 'a number from 0 to below 1', value);
  return value as number;
}

export function requireText(value: unknown, field: string, expected = 'text'): string {
  check(typeof value === 'string' && value !== '', field, expected, value);
  return value;
}

export function requireObject(value: unknown, field: string): Record<string, unknown> {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), field, 'an object', value);
  return value as Record<string, unknown>;
}

/** Default: any length but 0. */
export function requireArray(
  value: unknown,
  field: string,
  min = 1,
  max = Number.POSITIVE_INFINITY,
): readonly unknown[] {
  if (Array.isArray(value) && value.length >= min && value.length <= max) return value;
  const length = min === max ? `of ${min}` : Number.isFinite(max) ? `of ${min} to ${max}` : 'that is not empty';
  throw new InputError(field, `an array ${length}`, value);
}

/** Requires an array of up to `most` ascending numbers above 0 and below `limit`. Default: any number of them. */
export function requireAscending(value: unknown, field: string, limit: number, most?: number): readonly number[] {
  const numbers = requireArray(value, field, 1, most);
  let least = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i];
    const isNext = typeof number === 'number' && number > least && number < limit;
    if (!isNext) throw new InputError(`${field}[${i}]`, `a number above ${least} and below ${limit}`, number);
    least = number;
  }
  return value as number[];
}

/** Parses JSON. Throws `InputError` for any other text. */
export function parsedJson(text: string, field: string, expected = 'JSON'): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InputError(field, expected, error);
  }
}

export function isFrom(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max;
}

export function isPositive(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) > 0;
}
