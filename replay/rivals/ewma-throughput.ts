/**
 * dash.js's moving average of throughput (ThroughputModel and ThroughputController of 5.2): the smaller of a fast and a
 * slow exponential mean, weighted by download time, so that the estimate follows a fall sooner than a rise.
 */

import { type Download, RECENT_DOWNLOADS } from '../../abr/controller.ts';

/** Weight of a second of download (dash.js's `weightDownloadTimeMultiplicationFactor`, 0.0015 per ms). */
const WEIGHT_PER_SECOND = 1.5;

/** Half-lives of the fast and the slow mean in units of weight, as dash.js's settings: 2 s and 5.3 s of download. */
const HALF_LIVES = [3, 8];

/**
 * Mean throughput in bit/s over the last `count` downloads; undefined without a measurement. A measurement divides the
 * received bits by the time from the first byte (or the request, if the latency is unknown) to the last byte.
 */
export function ewmaThroughputBps(downloads: readonly Download[], count = RECENT_DOWNLOADS): number | undefined {
  const estimates = [0, 0];
  let totalWeight = 0;
  for (const { receivedBits, downloadSeconds, latencySeconds = 0 } of downloads.slice(-count)) {
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
  // The means began at 0: divide by the weight of their samples.
  return Math.min(...estimates.map((estimate, j) => estimate / (1 - 0.5 ** (totalWeight / HALF_LIVES[j]!))));
}
