/** Checks of JSON files: results, scenarios, households and sidecars. Browser-safe. */

import { check, InputError, parsedJson, requireObject } from '../../abr/errors.ts';

/** Throws an `InputError` for another value. `place` is for its message. */
export type ValueCheck = (value: unknown, place: string) => void;

export function that(expected: string, holds: (value: unknown) => boolean): ValueCheck {
  return (value, place) => check(holds(value), place, expected, value);
}

type Bounds = { above?: number; min?: number; max?: number; whole?: boolean };

export function number({ above, min, max, whole = false }: Bounds = {}): ValueCheck {
  const bounds = Object.entries({ above, from: min, to: max }).filter(([, bound]) => bound !== undefined);
  const expected = bounds.map(([word, bound]) => ` ${word} ${bound}`).join('');
  const isWithin = (value: number) => !(value <= above! || value < min! || value > max!);
  return that(`a ${whole ? 'whole ' : ''}number${expected}`, (value) => {
    return typeof value === 'number' && (whole ? Number.isSafeInteger : Number.isFinite)(value) && isWithin(value);
  });
}

export const text = that('a text', (value) => typeof value === 'string' && value !== '');

export function list(item: ValueCheck, least = 0): ValueCheck {
  return (value, place) => {
    const isList = Array.isArray(value) && value.length >= least;
    check(isList, place, least > 0 ? `a list of at least ${least}` : 'a list', value);
    for (const [i, one] of value.entries()) item(one, `${place}[${i}]`);
  };
}

export type Shape = Readonly<Record<string, ValueCheck>>;

/** Keys that end with `?` may be absent. Unknown keys are allowed: a newer version may have written them. */
export function object(shape: Shape): ValueCheck {
  const entries = Object.entries(shape).map(([key, item]) => [key.replace('?', ''), item, key.endsWith('?')] as const);
  return (value, place) => {
    const fields = requireObject(value, place);
    for (const [key, item, isOptional] of entries) {
      if (!isOptional || fields[key] !== undefined) item(fields[key], keyIn(place, key));
    }
  };
}

/** An object without other keys. */
export function exactly(shape: Shape): ValueCheck {
  const names = Object.keys(shape).map((key) => key.replace('?', ''));
  const known = object(shape);
  return (value, place) => {
    const other = Object.keys(requireObject(value, place)).find((key) => !names.includes(key));
    if (other !== undefined) throw new InputError(keyIn(place, other), `one of the fields ${names.join(', ')}`, other);
    known(value, place);
  };
}

/** The place of a file ends with `: `. */
function keyIn(place: string, key: string): string {
  return `${place}${place.endsWith(': ') ? '' : '.'}${key}`;
}

export function each(item: ValueCheck, ...keys: string[]): Record<string, ValueCheck> {
  return Object.fromEntries(keys.map((key) => [key, item]));
}

/** The object in a JSON text. `file` is for messages. @throws {InputError} for another text. */
export function jsonObject(text: string, file: string): Record<string, unknown> {
  const json = parsedJson(text, file, 'a JSON object');
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  throw new InputError(file, 'a JSON object', json);
}

/** The name of a JSON file without folder and ending. */
export function nameOf(file: string): string {
  return (file.split(/[\\/]/).pop() ?? file).replace(/\.json$/, '');
}
