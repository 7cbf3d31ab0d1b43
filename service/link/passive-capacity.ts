/**
 * Estimates capacity from the dish's usage when no player reports. Usage is a lower bound of the capacity and close to
 * it during bulk downloads: seconds whose usage is near the maximum of the last minutes count as busy.
 */

import type { Observation } from '../../abr/forecast.ts';

/** A second is busy from this share of the recent maximum, */
const BUSY_SHARE = 0.5;
/** and from this rate: less is web browsing. */
const LEAST_BUSY_BPS = 10e6;
/** Window of the maximum. */
const MEMORY_SECONDS = 180;
/** Ignore the usage for this long after a player's report, which is more accurate. */
const PLAYERS_KNOW_SECONDS = 5;

export class PassiveCapacity {
  /** Ascending in time, descending in usage: the first is the maximum of the window. */
  #greatest: { atSeconds: number; bps: number }[] = [];

  /** The second that ended at `atSeconds` as an observation; undefined if players have reported. */
  observe(atSeconds: number, usageBps: number, lastReportedSeconds: number): Observation | undefined {
    while (this.#greatest.length > 0 && this.#greatest.at(-1)!.bps <= usageBps) this.#greatest.pop();
    this.#greatest.push({ atSeconds, bps: usageBps });
    while (atSeconds - this.#greatest[0]!.atSeconds > MEMORY_SECONDS) this.#greatest.shift();
    if (atSeconds - lastReportedSeconds < PLAYERS_KNOW_SECONDS) return undefined;
    const startSeconds = atSeconds - 1;
    if (usageBps < Math.max(LEAST_BUSY_BPS, BUSY_SHARE * this.#greatest[0]!.bps)) {
      return { kind: 'idle', startSeconds, endSeconds: atSeconds };
    }
    return { kind: 'throughput', startSeconds, endSeconds: atSeconds, bits: usageBps };
  }
}
