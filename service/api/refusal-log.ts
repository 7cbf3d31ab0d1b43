/** Logs refused clients. A flood is one line a minute for each kind of refusal. */

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export interface Refusal {
  status: number;
  code: string;
  message: string;
  /** Of the client. */
  address: string;
}

const PERIOD_MS = 60_000;

export class RefusalLog {
  readonly #log: Log;
  readonly #clock: Clock;
  /** The newest line of each code, and the refusals since. */
  readonly #lines = new Map<string, { atMs: number; since: number }>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Wrong paths are not logged: browsers request icons that do not exist. */
  add({ status, code, message, address }: Refusal): void {
    if (status === 404) return;
    const nowMs = this.#clock.monotonicMs();
    const line = this.#lines.get(code);
    if (line !== undefined && nowMs - line.atMs < PERIOD_MS) {
      line.since++;
      return;
    }
    this.#lines.set(code, { atMs: nowMs, since: 0 });
    const more = line === undefined || line.since === 0 ? '' : `; ${line.since} more since the last such line`;
    this.#log.warn({ part: 'client', code, status, address }, `${address} is refused: ${message}${more}`);
  }
}
