/** The service's log: one line per event. Loggers of pino fit. */

export interface Log {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
}

/** What an event belongs to: `part` and `code` are those of problems, refusals have status and address. */
export type LogFields = Readonly<Record<string, string | number>>;

export const NO_LOG: Log = { info() {}, warn() {} };
