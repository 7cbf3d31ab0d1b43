/**
 * Capacity from the dish's usage, where no player reports: usage is at most the capacity, and close to it while somebody
 * downloads as fast as it goes. A second counts as such when it comes near the greatest usage of the last minutes.
 */

import type { Observation } from '../../abr/forecast.ts';

/** Share of the greatest recent usage from which a second counts as busy. */
const BUSY_SHARE = 0.5;
/** Less is somebody reading: 10 Mbit/s. */
const LEAST_BUSY_BPS = 10e6;
/** The greatest usage is remembered for so long. */
const MEMORY_SECONDS = 180;
/** Where players have reported within so many seconds, they know better. */
const PLAYERS_KNOW_SECONDS = 5;

export class PassiveCapacity {
  /** Descending in usage, ascending in time: the first is the greatest of the memory. */
  #greatest: { atSeconds: number; bps: number }[] = [];

  /** The second that ended at `atSeconds` as an observation; undefined where it says nothing of the capacity. */
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
