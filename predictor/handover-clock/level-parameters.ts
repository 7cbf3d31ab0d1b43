/** Constants of the evidence, fitted to recordings; docs/handover-clock.md. */

import type { LevelParameters } from './level-filters.ts';

/** For ln of the throughput in bins of half a second. */
export const RATE_PARAMETERS: LevelParameters = {
  drift: 0.42,
  jump: 2.6,
  noise: 0.6,
  dipDepth: 1.8,
  dipSeconds: 1,
  lagSeconds: -0.4,
  steady: [
    [0.5, 0.6],
    [0.01, 1.2],
  ],
  firstVolatility: 0.2,
  volatilityMemory: 3,
  volatilityLimit: 50,
  weight: 0.5,
};

/** For ln of request latencies, one per request. */
export const LATENCY_PARAMETERS: LevelParameters = {
  drift: 0.02,
  jump: 3,
  noise: 1,
  dipDepth: 0,
  dipSeconds: 1,
  lagSeconds: 0.2,
  steady: [[0.2, 1]],
  firstVolatility: 0.2,
  volatilityMemory: 16,
  volatilityLimit: 9,
  weight: 0.7,
};

/** Periods of links that repeat themselves; their divisors are found too. */
export const REPEAT_SECONDS: readonly number[] = [30, 60, 90];
