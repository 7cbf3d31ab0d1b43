/** Exit statuses of the command, and which one an error has. */

export const EXIT_DONE = 0;
/** A fault of the program, or of a controller under test. */
export const EXIT_FAULT = 1;
/** Wrong usage or input. */
export const EXIT_WRONG_INPUT = 2;
/** All went well but for lines that were to be recorded: the disk did not take them. */
export const EXIT_LINES_LOST = 3;
/** Stopped by SIGINT (128 + 2, as shells have it). */
export const EXIT_INTERRUPTED = 130;

/** A command that has said what there was to say and only ends with a status of its own. */
export class ExitWith extends Error {
  constructor(readonly status: number) {
    super(`exit ${status}`);
  }
}

/** Wrong input, by name: the packages have typed errors of their own, all called so. */
export function isInputError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'InputError';
}
