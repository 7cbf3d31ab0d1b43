/** The latency that a plan expects of its requests. */

import { type PlayerState, RECENT_DOWNLOADS } from '../controller.ts';

/** Request latency before the first measurement. */
const DEFAULT_LATENCY_SECONDS = 0.05;
/** Measurements in a median, as in RobustMPC's mean. */
const LATENCIES = 5;

/** Median of the last known latencies. */
export function recentLatencySeconds({ downloads }: PlayerState): number {
  const latencies = downloads
    .slice(-RECENT_DOWNLOADS)
    .map(({ latencySeconds = Number.NaN }) => latencySeconds)
    .filter((latency) => latency >= 0)
    .slice(-LATENCIES)
    .sort((a, b) => a - b);
  return latencies[latencies.length >> 1] ?? DEFAULT_LATENCY_SECONDS;
}
