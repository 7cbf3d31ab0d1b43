/** The error for wrong input: says where (file, line, field), what was expected and what came. */

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

/** Thrown for input that cannot be used as it is. The command line shows its message and ends with status 2. */
export class InputError extends Error implements InputFault {
  override readonly name = 'InputError';
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly field: string | undefined;
  readonly expected: string;
  readonly got: string;

  constructor(fault: InputFault, options?: ErrorOptions) {
    const where = [
      fault.file === undefined ? undefined : fault.line === undefined ? fault.file : `${fault.file}:${fault.line}`,
      fault.file === undefined && fault.line !== undefined ? `line ${fault.line}` : undefined,
      fault.field,
    ].filter((part) => part !== undefined);
    super([...where, `expected ${fault.expected}, got ${fault.got}`].join(': '), options);
    this.file = fault.file;
    this.line = fault.line;
    this.field = fault.field;
    this.expected = fault.expected;
    this.got = fault.got;
  }
}

/** Quotes a piece of input for a message: JSON form, cut to a readable length. */
export function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
