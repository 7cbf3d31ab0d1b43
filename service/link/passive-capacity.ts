/** Without players: seconds whose usage is near the maximum of the last minutes show the capacity. */

import type { Observation } from '../../abr/forecast.ts';

/** A second is busy from this share of the recent maximum, */
const BUSY_SHARE = 0.5;
/** and from this rate: less is web browsing. */
const LEAST_BUSY_BPS = 10e6;
const MEMORY_SECONDS = 180;
/** Ignore the usage for this long after a player's report, which is more accurate. */
const PLAYERS_KNOW_SECONDS = 5;

export class PassiveCapacity {
  readonly #recent: { atSeconds: number; bps: number }[] = [];

  /** The second that ended at `atSeconds` as an observation; undefined if players have reported. */
  observe(atSeconds: number, usageBps: number, lastReportedSeconds: number): Observation | undefined {
    this.#recent.push({ atSeconds, bps: usageBps });
    while (atSeconds - this.#recent[0]!.atSeconds > MEMORY_SECONDS) this.#recent.shift();
    if (atSeconds - lastReportedSeconds < PLAYERS_KNOW_SECONDS) return undefined;
    const busyBps = Math.max(LEAST_BUSY_BPS, ...this.#recent.map(({ bps }) => BUSY_SHARE * bps));
    const second = { startSeconds: atSeconds - 1, endSeconds: atSeconds };
    return usageBps < busyBps ? { kind: 'idle', ...second } : { kind: 'throughput', ...second, bits: usageBps };
  }
}
