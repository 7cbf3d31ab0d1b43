/**
 * dash.js's ThroughputRule chooses the highest bitrate within 0.9 of the mean throughput (ewma-throughput.ts). In dash.js,
 * AbandonRequestsRule acts beside it.
 */

import type { Controller, Decision, InFlight, PlayerState } from '../../abr/controller.ts';
import { highestWithin } from '../../abr/state/facts.ts';
import { abandonRequest, isAfterAbandonment } from './dash-js/abandon-requests.ts';
import { ewmaThroughputBps } from './ewma-throughput.ts';

/** dash.js's `bandwidthSafetyFactor`. */
export const SAFETY_FACTOR = 0.9;

export class Throughput implements Controller {
  readonly name = 'throughput';

  decide(state: PlayerState): Decision {
    const meanBps = ewmaThroughputBps(state.downloads);
    if (meanBps === undefined) {
      const representation = highestWithin(state.ladderBps, state.assumed?.playerBps || 0);
      return {
        representation,
        controller: this.name,
        reason: `nothing measured yet: ${representation > 0 ? "the player's default" : 'lowest'}`,
      };
    }
    const { ladderBps, previousBitrateBps } = state;
    if (previousBitrateBps && isAfterAbandonment(state)) {
      const representation = highestWithin(ladderBps, previousBitrateBps);
      return { representation, controller: this.name, reason: 'no change within 10 s of an abandonment' };
    }
    const safeBps = SAFETY_FACTOR * meanBps;
    // A player at rate 2 consumes twice the bitrate.
    const safeBitrateBps = safeBps / state.playbackRate;
    return {
      representation: highestWithin(ladderBps, safeBitrateBps),
      controller: this.name,
      reason: `${(safeBitrateBps / 1e6).toPrecision(3)} Mbit/s are safe`,
      plannedThroughputBps: safeBps,
    };
  }

  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    return abandonRequest(this.name, state, inFlight);
  }
}
