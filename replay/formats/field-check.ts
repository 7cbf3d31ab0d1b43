/** Checks on the fields of a JSON file: scenarios and households. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
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
    const value = given === undefined ? rule.default : given;
    const fits =
      typeof value === 'number' &&
      Number.isFinite(value) &&
      value > (rule.above ?? Number.NEGATIVE_INFINITY) &&
      value >= (rule.min ?? Number.NEGATIVE_INFINITY) &&
      value <= (rule.max ?? Number.POSITIVE_INFINITY) &&
      (rule.whole !== true || Number.isSafeInteger(value));
    if (fits) return value;
    const bounds = [
      rule.above === undefined ? '' : ` above ${rule.above}`,
      rule.min === undefined ? '' : ` from ${rule.min}`,
      rule.max === undefined ? '' : ` to ${rule.max}`,
    ];
    return this.wrong(field, `a ${rule.whole === true ? 'whole ' : ''}number${bounds.join('')}`, value);
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
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.wrong(field, 'an object', value);
    return value as Record<string, unknown>;
  }
}

export function nameOf(file: string): string {
  return (file.split(/[\\/]/).pop() ?? file).replace(/\.json$/, '');
}
