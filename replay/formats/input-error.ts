/** The error for wrong input in files and on the command line: where (file, line, field), what was expected, what came. */

import { InputError as WrongValueError } from '../../abr/errors.ts';

export interface InputFault {
  /** File (or the name that a text was given under). */
  file?: string | undefined;
  /** Counted from 1. */
  line?: number | undefined;
  /** Column of a table, key of a JSON document (`a.b[2]`) or flag. */
  field?: string | undefined;
  expected: string;
  /** What came instead, as text. */
  got: string;
}

/**
 * Thrown for input that cannot be used as it is: the controller's error for wrong values, with a place. The command line
 * shows its message and ends with status 2.
 */
export class InputError extends WrongValueError {
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly got: string;

  /** `field` is `''` where no single one is at fault. */
  constructor(fault: InputFault, options?: ErrorOptions) {
    const { file, line, field, expected, got } = fault;
    super(field ?? '', expected, got);
    const place =
      file === undefined
        ? line === undefined
          ? undefined
          : `line ${line}`
        : `${file}${line === undefined ? '' : `:${line}`}`;
    this.message = [place, field, `expected ${expected}, got ${got}`].filter((part) => part !== undefined).join(': ');
    this.file = file;
    this.line = line;
    this.got = got;
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}

/** Quotes a piece of input for a message: JSON form, cut to a readable length. */
export function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
