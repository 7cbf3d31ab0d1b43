/** What the page itself has loaded before the first media request: evidence of the link, where the browser tells. */

import type { SessionContext } from '../abr/forecast.ts';

/** A page that loaded less says nothing about throughput. */
const LEAST_BITS = 1.6e6;
/** Smaller responses measure the round trip. */
const LEAST_BYTES = 20_000;
/** Older responses may have come over another link. */
const RECENT_MS = 60_000;

/**
 * Bits of the page's recent responses and the seconds in which at least one of them arrived, from Resource Timing. Caches
 * and servers of other origins without `Timing-Allow-Origin` report a size of 0 and do not count. Undefined without at
 * least 200 kB.
 */
export function pageLoad(timing: Pick<Performance, 'now' | 'getEntriesByType'>): SessionContext['pageLoad'] {
  const entries = timing.getEntriesByType('resource') as PerformanceResourceTiming[];
  const responses = entries
    .filter((one) => one.transferSize >= LEAST_BYTES && one.responseEnd > timing.now() - RECENT_MS)
    .sort((a, b) => a.responseStart - b.responseStart);
  let bits = 0;
  let busyMs = 0;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  for (const { transferSize, responseStart, responseEnd } of responses) {
    bits += 8 * transferSize;
    busyMs += Math.max(0, responseEnd - Math.max(responseStart, busyUntilMs));
    busyUntilMs = Math.max(busyUntilMs, responseEnd);
  }
  return bits >= LEAST_BITS && busyMs > 0 ? { bits, seconds: busyMs / 1000 } : undefined;
}
