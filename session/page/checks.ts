/** Checks of options. */

import { check, isFrom as isBetween, unknownName } from '../../abr/errors.ts';

/** The check of an option's value, if given. */
export type Check = readonly [expected: string, holds: (value: unknown) => boolean];
export type Checks<O> = { readonly [K in keyof Required<O>]: Check };

/** Refuses an option that was removed. */
export const gone = () => false;
export const SWITCH: Check = ['true or false', (value) => typeof value === 'boolean'];

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function checkOptions<O extends object>(options: O, checks: Checks<O>, path = 'options'): void {
  check(isPlain(options), path, 'an object', options);
  const names = Object.keys(checks);
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name)) {
      const known = names.filter((one) => checks[one as keyof O][1] !== gone);
      throw unknownName(`${path}.${name}`, known, name);
    }
    const [expected, holds]: Check = checks[name as keyof O];
    check(value === undefined || holds(value), `${path}.${name}`, expected, value);
  }
}

/** Whether `value` is an object with these methods. */
export function has(value: unknown, ...methods: string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}

/** Whether `value` is an object of fields: no array, element, map, date or the like. */
export function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

export function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

export function isFrom(least: number, most: number): Check {
  return [`a number from ${least} to ${most}`, (value) => isBetween(value, least, most)];
}

export function isWhole(least: number, most: number): Check {
  return [
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && isBetween(value, least, most),
  ];
}
