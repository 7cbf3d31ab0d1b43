/** The service's log: one line per event. Loggers of pino fit. */

export interface Log {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
}

/** What an event belongs to: problems have `part` and `code`, refusals status and address. */
export type LogFields = Readonly<Record<string, string | number>>;

export const NO_LOG: Log = { info() {}, warn() {} };
