/** A live encoder of variable bitrate: a quiet minute does not promise small segments. */

import { expect, test } from '@jest/globals';
import { createController } from '../../abr/index.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS } from '../scenarios.ts';
import { traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';

/** Bitrate of each minute, as a share of the declared bitrate. */
const QUIET = 0.2;
const BURST = 1.6;
const MINUTE_SEGMENTS = 30;
const SEGMENTS = 6 * MINUTE_SEGMENTS;

function scenarioOf(targetLatencySeconds: number): ResolvedScenario {
  const base = SCENARIOS['live-hd-1']!;
  const ladderBps = [1e6, 2.5e6, 5e6, 8e6, 12e6, 16e6];
  const share = (segment: number) => (Math.floor(segment / MINUTE_SEGMENTS) % 2 === 0 ? QUIET : BURST);
  const bits = (bps: number, segment: number) => 8 * Math.round((bps * base.segmentSeconds * share(segment)) / 8);
  return {
    ...{ ...base, ladderBps, traceScale: { factor: 1 }, segmentCount: SEGMENTS },
    live: { ...base.live!, targetLatencySeconds },
    segmentSizesBits: Array.from({ length: SEGMENTS }, (_, segment) => ladderBps.map((bps) => bits(bps, segment))),
  };
}

/** Seconds of stall, summed over links of one rate each. */
function stallSeconds(algorithm: string): number {
  const forecaster = () => createBuiltInForecaster({ newSubSecond: () => new SubSecond() });
  const results = [1, 3].flatMap((target) =>
    [6, 10, 14].map((mbps) =>
      simulateSession({
        trace: traceUntil([{ until: 600, mbps }], { startUtcMs: 0 }),
        scenario: scenarioOf(target),
        controller: createController(algorithm, { seed: 1 }),
        learnsSizes: true,
        ...(algorithm === 'mpc-l' && { objective: 'perceived', forecaster }),
      }),
    ),
  );
  return results.reduce((sum, one) => sum + one.stallSeconds, 0);
}

test.each(['mpc-l', 'mpc-d'])('%s: bursts after quiet minutes do not stall', (algorithm) => {
  expect(stallSeconds(algorithm)).toBeLessThan(0.5);
});

test('a player that takes what the link carries of the declared bitrates stalls in each burst', () => {
  expect(stallSeconds('throughput')).toBeGreaterThan(20);
});
