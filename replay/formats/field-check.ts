/** Checks the fields of JSON files: scenarios, households and sidecars. Browser-safe. */

import { InputError, parsedJson, requireObject } from '../../abr/errors.ts';
import { placeOf } from './place.ts';

export interface NumberRule {
  above?: number;
  min?: number;
  max?: number;
  whole?: boolean;
  default?: number | undefined;
}

/** Reads the fields of a JSON object; errors name file and field. */
export class FieldCheck {
  constructor(
    readonly file: string,
    readonly fields: Readonly<Record<string, unknown>>,
  ) {}

  wrong(field: string, expected: string, got: unknown = this.fields[field]): never {
    throw new InputError(placeOf({ file: this.file, field }), expected, got);
  }

  known(names: readonly string[], prefix = '', fields = this.fields): void {
    for (const key of Object.keys(fields)) {
      if (!names.includes(key)) this.wrong(`${prefix}${key}`, `one of the fields ${names.join(', ')}`, key);
    }
  }

  number(field: string, rule: NumberRule, given: unknown = this.fields[field]): number {
    const { above, min, max, whole = false } = rule;
    const value = given === undefined ? rule.default : given;
    const fits =
      typeof value === 'number' &&
      Number.isFinite(value) &&
      !(value <= above! || value < min! || value > max!) &&
      (!whole || Number.isSafeInteger(value));
    if (fits) return value;
    const bounds = Object.entries({ above, from: min, to: max }).filter(([, bound]) => bound !== undefined);
    const expected = bounds.map(([word, bound]) => ` ${word} ${bound}`).join('');
    return this.wrong(field, `a ${whole ? 'whole ' : ''}number${expected}`, value);
  }

  /** Reads several numbers by name. `prefix` and `fields` belong to an object within. */
  each<Name extends string>(rules: Readonly<Record<Name, NumberRule>>, prefix = '', fields = this.fields) {
    const names = Object.keys(rules) as Name[];
    const read = names.map((name) => [name, this.number(`${prefix}${name}`, rules[name], fields[name])]);
    return Object.fromEntries(read) as Record<Name, number>;
  }

  numbers(field: string): number[] {
    const value = this.fields[field];
    if (!Array.isArray(value)) return this.wrong(field, 'an array of numbers');
    return value.map((entry, i) => this.number(`${field}[${i}]`, {}, entry ?? null));
  }

  text(field: string, otherwise: string): string {
    const value = this.fields[field] ?? otherwise;
    return typeof value === 'string' && value !== '' ? value : this.wrong(field, 'a text');
  }

  object(field: string, value: unknown): Record<string, unknown> {
    return requireObject(value, placeOf({ file: this.file, field }));
  }
}

/** The object in a JSON text. `file` is for messages. @throws {InputError} for another text. */
export function jsonObject(text: string, file: string): Record<string, unknown> {
  const json = parsedJson(text, file, 'a JSON object');
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  throw new InputError(file, 'a JSON object', json);
}

export function nameOf(file: string): string {
  return (file.split(/[\\/]/).pop() ?? file).replace(/\.json$/, '');
}
