/** Estimates capacity without players: if the usage of a second is near the recent maximum, it shows the capacity. */

import type { Observation } from '../../abr/forecast.ts';

/** A second is busy if its usage is at least this share of the recent maximum, and at least the rate below. */
const BUSY_SHARE = 0.5;
/** A lower rate may be web browsing. */
const LEAST_BUSY_BPS = 10e6;
/** The recent maximum is over this time. */
const MEMORY_SECONDS = 180;
/** The usage is ignored for this long after a player's report, which is more accurate. */
const PLAYERS_KNOW_SECONDS = 5;

export class PassiveCapacity {
  private readonly _recent: { atSeconds: number; bps: number }[] = [];

  /** Converts the second that ended at `atSeconds` to an observation; undefined if players have reported. */
  observe(atSeconds: number, usageBps: number, lastReportedSeconds: number): Observation | undefined {
    this._recent.push({ atSeconds, bps: usageBps });
    while (atSeconds - this._recent[0]!.atSeconds > MEMORY_SECONDS) this._recent.shift();
    if (atSeconds - lastReportedSeconds < PLAYERS_KNOW_SECONDS) return undefined;
    const busyBps = Math.max(LEAST_BUSY_BPS, ...this._recent.map(({ bps }) => BUSY_SHARE * bps));
    const second = { startSeconds: atSeconds - 1, endSeconds: atSeconds };
    return usageBps < busyBps ? { kind: 'idle', ...second } : { kind: 'throughput', ...second, bits: usageBps };
  }
}
