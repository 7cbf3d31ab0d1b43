/** Parsers of flags that several commands have; commander passes every flag as text. */

import { InputError } from '../abr/errors.ts';

/** For a flag that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** `note` follows the limits in the error's message. */
export function wholeNumber(
  text: string,
  flag: string,
  { min = 0, max, note = '' }: { min?: number; max: number; note?: string },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InputError(flag, `a whole number from ${min} to ${max}${note}`, text);
}

export function seedOption(text: string): number {
  return wholeNumber(text, '--seed', { max: 0xffffffff });
}

export function jobsOption(text: string): number {
  return wholeNumber(text, '--jobs', { min: 1, max: 1024 });
}

/** A decimal number >= 0 for which `holds` is true; `expected` describes it in the error's message. */
export function decimalNumber(
  text: string,
  flag: string,
  { expected, holds = () => true }: { expected: string; holds?: (value: number) => boolean },
): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && holds(value)) return value;
  throw new InputError(flag, expected, text);
}
