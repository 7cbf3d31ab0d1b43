/**
 * The moving average of throughput of dash.js (ThroughputModel and ThroughputController of 5.2): two exponentially
 * weighted means, a fast and a slow one, weighted by download time. The smaller one counts, so that the estimate follows
 * a fall sooner than a rise.
 */

import type { Download } from './controller.ts';

/** dash.js's `throughputFastHalfLifeSeconds` and `throughputSlowHalfLifeSeconds`, in units of weight. */
const HALF_LIVES = [3, 8];

/** dash.js's `weightDownloadTimeMultiplicationFactor` (0.0015 per ms): weight per second of download. */
const WEIGHT_PER_SECOND = 1.5;

/** Downloads in the mean: the number that every state holds at least, so that all players agree. */
export const EWMA_DOWNLOADS = 16;

/**
 * Mean throughput in bit/s over the last downloads; undefined without a measurement. A measurement is the received bits
 * over the time from the first byte (from the request, if the latency is unknown) to the last byte.
 */
export function ewmaThroughputBps(downloads: readonly Download[]): number | undefined {
  const estimates = [0, 0];
  let totalWeight = 0;
  for (let i = Math.max(0, downloads.length - EWMA_DOWNLOADS); i < downloads.length; i++) {
    const { receivedBits, downloadSeconds, latencySeconds = 0 } = downloads[i]!;
    const seconds = downloadSeconds - latencySeconds;
    if (!(receivedBits > 0 && seconds > 0)) continue;
    const weight = WEIGHT_PER_SECOND * seconds;
    totalWeight += weight;
    for (let j = 0; j < HALF_LIVES.length; j++) {
      const kept = 0.5 ** (weight / HALF_LIVES[j]!);
      estimates[j] = kept * estimates[j]! + (1 - kept) * (receivedBits / seconds);
    }
  }
  if (totalWeight === 0) return undefined;
  // The means began at 0: divide by the weight that they have gathered since.
  return Math.min(...estimates.map((estimate, j) => estimate / (1 - 0.5 ** (totalWeight / HALF_LIVES[j]!))));
}
