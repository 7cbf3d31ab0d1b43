/** The exit statuses of the command. */

export const EXIT_DONE = 0;
/** A fault of the program, or of a controller under test. */
export const EXIT_FAULT = 1;
export const EXIT_WRONG_INPUT = 2;
/** `serve`: lines of the recording were lost, because the disk could not take them. */
export const EXIT_LINES_LOST = 3;
/** `trial --guard`: a guard is broken for certain. */
export const EXIT_GUARD_BROKEN = 3;
/** `bench`: sessions were rejected at every attempt. `--resume` plays them again. */
export const EXIT_REJECTED = 4;
/** Interrupted (128 + 2 for SIGINT, as in shells). */
export const EXIT_INTERRUPTED = 130;

/** Ends the command with this status. The thrower has written the message for the user. */
export class ExitWith extends Error {
  constructor(readonly status: number) {
    super(`exit ${status}`);
  }
}

/** Compares names, because an algorithm file of the user is bundled with its own copy of the class `InputError`. */
export function isInputError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'InputError';
}
