/** Throughput from before the start, from which the forecaster learns at once. */

import type { Observation } from '../abr/forecast.ts';

export type Throughput = Extract<Observation, { kind: 'throughput' }>;

export interface KeptState {
  /** UTC in ms. */
  savedMs: number;
  /** Seconds are relative to `savedMs`, so below 0; in order of time. */
  throughput: readonly Throughput[];
}

/** Older throughput is ignored, and the dish's history is as long. A multiple of the epoch. */
export const KEPT_SECONDS = 900;
