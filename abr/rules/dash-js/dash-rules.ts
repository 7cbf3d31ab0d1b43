/**
 * dash.js 5.2.1's own ABR with its default settings, for comparison: `dynamic` as it comes, and `bola-e` with the
 * throughput rule off. Sources: src/streaming/controllers/AbrController.js and src/streaming/rules/abr/ of dash.js
 * (ABRRulesCollection, ThroughputRule, BolaRule, InsufficientBufferRule, SwitchHistoryRule, AbandonRequestsRule).
 *
 * - `dynamic` asks BOLA once the buffer has 12 s and until it falls below 6 s, else the throughput rule.
 * - InsufficientBufferRule and SwitchHistoryRule also limit the bitrate: the lowest request of all rules counts.
 * - AbandonRequestsRule abandons a download. For the next 10 s the throughput rule is silent and the bitrate never rises.
 *
 * Here rates are not rounded to kbit/s. Buffer levels are exact, where dash.js reads them at the element's events.
 */

import type { Controller, Decision, InFlight, PlayerState } from '../../controller.ts';
import { highestWithin } from '../../state/ladder.ts';
import { DashSession } from './dash-session.ts';

/** AbandonRequestsRule waits this long after the first byte (`minSegmentDownloadTimeThresholdInMs`), ... */
const ABANDON_AFTER_SECONDS = 0.5;
/** ... and keeps downloads that take less than this multiple of the segment's duration (`abandonDurationMultiplier`). */
const ABANDON_DURATIONS = 1.8;

/** dash.js's default rules. */
export function createDynamic(): Controller {
  return new DashRules('dynamic', true);
}

/** dash.js without its throughput rule (`abr.rules.throughputRule.active: false`). */
export function createBolaE(): Controller {
  return new DashRules('bola-e', false);
}

class DashRules implements Controller {
  constructor(
    readonly name: string,
    private readonly _isDynamic: boolean,
  ) {}

  decide(state: PlayerState): Decision {
    return { controller: this.name, ...new DashSession(state, this._isDynamic).next() };
  }

  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    const { ladderBps, bufferLevelSeconds, bufferCapSeconds, segmentSeconds, nowSeconds } = state;
    const { bitrateBps, sizeBits, receivedBits, firstByteAtSeconds, abandonments } = inFlight;
    const { lastBitsAtSeconds = nowSeconds } = inFlight;
    const isLowest = bitrateBps <= ladderBps[0]!;
    if (isLowest || firstByteAtSeconds === undefined || abandonments > 0) return 'keep';
    if (bufferLevelSeconds > bufferCapSeconds || receivedBits >= sizeBits) return 'keep';
    // dash.js asks its rule when bits arrive, so not during an outage.
    const seconds = lastBitsAtSeconds - firstByteAtSeconds;
    if (!(seconds > ABANDON_AFTER_SECONDS)) return 'keep';
    const throughputBps = receivedBits / seconds;
    if (sizeBits / throughputBps < ABANDON_DURATIONS * segmentSeconds) return 'keep';
    const representation = highestWithin(ladderBps, throughputBps);
    const againBits = (sizeBits * ladderBps[representation]!) / bitrateBps;
    if (sizeBits - receivedBits <= againBits) return 'keep';
    const reason = `AbandonRequestsRule: ${(throughputBps / 1e6).toPrecision(3)} Mbit/s in this download`;
    return { representation, controller: this.name, reason };
  }
}
