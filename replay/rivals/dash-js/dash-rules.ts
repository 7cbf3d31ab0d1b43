/**
 * dash.js 5.2.1's own ABR with its default settings, for comparison: `dynamic` as it comes, and `bola-e` with the
 * throughput rule off. Sources: src/streaming/controllers/AbrController.js and src/streaming/rules/abr/ of dash.js
 * (ABRRulesCollection, ThroughputRule, BolaRule, InsufficientBufferRule, SwitchHistoryRule, AbandonRequestsRule).
 *
 * - `dynamic` asks BOLA once the buffer has 12 s and until it falls below 6 s, else the throughput rule.
 * - InsufficientBufferRule and SwitchHistoryRule also limit the bitrate: the lowest request of all rules counts.
 * - AbandonRequestsRule abandons a download. For the next 10 s the throughput rule is silent and the bitrate never rises.
 * - In low-latency mode, InsufficientBufferRule and AbandonRequestsRule do nothing.
 *
 * Here rates are not rounded to kbit/s. Buffer levels are exact, where dash.js reads them at the element's events.
 */

import type { Controller, Decision, InFlight, PlayerState } from '../../../abr/controller.ts';
import { abandonRequest } from './abandon-requests.ts';
import { DashSession } from './dash-session.ts';

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
    return abandonRequest(this.name, state, inFlight);
  }
}
