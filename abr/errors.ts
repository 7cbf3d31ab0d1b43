/** Errors about a caller's input: field, expectation, received value. */

/** Invalid input. The message names the field, the expectation and the received value. */
export class InputError extends Error {
  override readonly name: string = 'InputError';

  constructor(
    /** Where the wrong value is: `state.ladderBps[2]`, `--seed`, `trace.csv:12: throughput_mbps` ... */
    readonly field: string,
    /** Valid values, in words. */
    readonly expected: string,
    /** The invalid value, or the error that its use led to. */
    readonly received: unknown,
    /** What came, in words. Default: the value. */
    got = describeValue(received),
  ) {
    super(`${field}: expected ${expected}, got ${got}`);
  }
}

/** A value for a message: short, with an unmistakable type; of an error (of any realm), its message. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (value === null) return 'null';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return String((value as Partial<Error>).message ?? 'an object');
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
