/** The service's log has a line per event. A logger of pino fits. */

export interface Log {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Problems and states have `part` and `code`; refusals also have `status` and `address`. */
export type LogFields = Readonly<Record<string, string | number>>;

export const NO_LOG: Log = { info() {}, warn() {}, error() {} };
