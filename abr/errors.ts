/** Errors about what a caller handed in: which field, what was expected, what came. */

/** Input that cannot be worked with. The message says field, expectation and what was received. */
export class InputError extends Error {
  override readonly name: string = 'InputError';

  constructor(
    /** Path of the wrong value: `state.ladderBps[2]`, `options.horizon` ... */
    readonly field: string,
    /** What would have been right, in words. */
    readonly expected: string,
    /** What came. */
    readonly received: unknown,
  ) {
    super(`${field}: expected ${expected}, got ${describeValue(received)}`);
  }
}

/** A value as it is shown in a message: short, and unmistakable about its type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (value === null) return 'null';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return 'an object';
  return String(value);
}

/** Throws unless `value` is a whole number from `min` to `max`. */
export function requireInteger(value: unknown, field: string, { min, max }: { min: number; max: number }): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new InputError(field, `a whole number from ${min} to ${max}`, value);
  }
  return value;
}

/** Throws unless `value` is a finite number > 0. */
export function requirePositive(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw new InputError(field, 'a finite number > 0', value);
  }
  return value;
}

/** Throws unless `value` is a finite number >= 0. */
export function requireNonNegative(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new InputError(field, 'a finite number >= 0', value);
  }
  return value;
}
