/** Constants of the filters, fitted to recordings (docs/how-it-works.md). */

import type { FilterParameters } from './state-filters.ts';

/** For ln throughput in bins of half a second. */
export const RATE_PARAMETERS: FilterParameters = {
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

/** For ln request latency, one per request. */
export const LATENCY_PARAMETERS: FilterParameters = {
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

/** Periods of periodic links; divisors of these are found too. */
export const REPEAT_SECONDS: readonly number[] = [30, 60, 90];
