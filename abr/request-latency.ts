/** The latency that a plan expects of its requests. */

import { type PlayerState, RECENT_DOWNLOADS } from './controller.ts';

/** Request latency before the first measurement; from then on it is the median of the last ones. */
const DEFAULT_LATENCY_SECONDS = 0.05;
/** Measurements in that median: as many as in RobustMPC's mean. */
const LATENCIES = 5;

/** Median latency of the last requests that have one. */
export function recentLatencySeconds({ downloads }: PlayerState): number {
  const latencies: number[] = [];
  const oldest = Math.max(0, downloads.length - RECENT_DOWNLOADS);
  for (let i = downloads.length - 1; i >= oldest && latencies.length < LATENCIES; i--) {
    const latency = downloads[i]!.latencySeconds;
    if (latency !== undefined && latency >= 0) latencies.push(latency);
  }
  if (latencies.length === 0) return DEFAULT_LATENCY_SECONDS;
  latencies.sort((a, b) => a - b);
  return latencies[latencies.length >> 1]!;
}
