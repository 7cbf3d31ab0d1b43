/** Errors about a caller's input: field, expectation, received value. */

/** Invalid input. The message names the field, the expectation and the received value. */
export class InputError extends Error {
  override readonly name: string = 'InputError';

  constructor(
    /** Path of the wrong value: `state.ladderBps[2]`, `options.horizon` ... */
    readonly field: string,
    /** Valid values, in words. */
    readonly expected: string,
    /** The invalid value. */
    readonly received: unknown,
  ) {
    super(`${field}: expected ${expected}, got ${describeValue(received)}`);
  }
}

/** A value for a message: short, with an unmistakable type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (value === null) return 'null';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return 'an object';
  return String(value);
}

/** Returns `value` if it is a whole number from `min` to `max`, else throws. */
export function requireInteger(value: unknown, field: string, { min, max }: { min: number; max: number }): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new InputError(field, `a whole number from ${min} to ${max}`, value);
  }
  return value;
}

/** Returns `value` if it is a finite number > 0, else throws. */
export function requirePositive(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw new InputError(field, 'a finite number > 0', value);
  }
  return value;
}

/** Returns `value` if it is a finite number >= 0, else throws. */
export function requireNonNegative(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new InputError(field, 'a finite number >= 0', value);
  }
  return value;
}
