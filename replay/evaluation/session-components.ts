/** The components of a session's QoE-linear, from its totals. */

import { QOE_UNIT_SECONDS } from '../../abr/index.ts';
import type { SessionResult } from '../results.ts';
import type { Scenario } from '../scenarios.ts';

/** In Mbit/s of undisturbed 4 s segments; `qoe = quality - stalls - startup - switches`. */
interface QoeComponents {
  qoe: number;
  /** Mean bitrate; missing segments count as 0. */
  quality: number;
  /** Costs, >= 0. */
  stalls: number;
  startup: number;
  switches: number;
}

type Totals = Pick<SessionResult, 'endedBy' | 'qoe' | 'startupSeconds' | 'stallSeconds' | 'switchBps'> & {
  segments: readonly { bitrateBps: number }[];
};

/**
 * The components of a session's QoE-linear (abr/qoe.ts). The planned number of segments of a session that ended early
 * follows from its QoE.
 */
export function qoeComponents(
  session: Totals,
  scenario: Pick<Scenario, 'segmentSeconds' | 'segmentCount' | 'mu' | 'lambda'>,
): QoeComponents {
  const { segments, startupSeconds, stallSeconds, switchBps } = session;
  const perSegment = scenario.segmentSeconds / QOE_UNIT_SECONDS;
  const sums = {
    quality: segments.reduce((sum, { bitrateBps }) => sum + (bitrateBps / 1e6) * perSegment, 0),
    stalls: scenario.mu * stallSeconds,
    startup: scenario.mu * startupSeconds,
    switches: (scenario.lambda * switchBps) / 1e6,
  };
  const qoe = session.qoe.linear;
  const whole = session.endedBy === 'end' ? segments.length : scenario.segmentCount;
  const undivided = sums.quality - sums.stalls - sums.startup - sums.switches;
  const solved = undivided / qoe;
  const units = session.endedBy !== 'end' && solved > 0 && Number.isFinite(solved) ? solved : whole * perSegment;
  return {
    qoe,
    quality: sums.quality / units,
    stalls: sums.stalls / units,
    startup: sums.startup / units,
    switches: sums.switches / units,
  };
}
