/**
 * The page as the host of sessions. Nothing is read before a session needs it, so that servers may import the
 * plugin.
 */

import type { SessionContext } from '../abr/forecast.ts';
import type { Host, ResponseWatch } from '../session/host.ts';
import { attempt } from '../session/page/events.ts';

/** Chromium alone has it. */
const connection = () => (navigator as { connection?: { saveData?: boolean; downlink?: number } }).connection!;

export const PAGE: Host = {
  nowMs: () => performance.now(),
  utcMs: () => Date.now(),
  every(periodMs, action) {
    const timer = setInterval(action, periodMs);
    return () => clearInterval(timer);
  },
  soon: (action) => Promise.resolve().then(action),
  savesData: () => attempt(() => connection().saveData) === true,
  isHidden: () => attempt(() => document.hidden) === true,
  storage: () => localStorage,
  // Sizes of a live stream are read again: the server answers 304 while they are the same.
  fetch: (url) => fetch(url, { cache: 'no-cache' }),
  absoluteUrl: (url) =>
    new URL(
      url,
      attempt(() => location.href),
    ),
  linkBps: () => attempt(() => connection().downlink! * 1e6),
  pageLoad: () => pageLoad(performance),
  watchResponses,
  console,
};

/* Whether a cache or the network answered the page's requests, by Resource Timing. */

/** Responses kept: few are under way at a time. */
const KEPT = 32;
/** The browser notes the start of a request a little before or after its player does. */
const SLACK_MS = 5;

/**
 * An observer of what comes from now on, because the browser's list of entries may be full, or long. Earlier entries
 * (`buffered`) show that the browser has entries at all. An entry is found by the size of its body, because URLs repeat,
 * also in other players, and are redirected. Servers of other origins without `Timing-Allow-Origin` report no sizes.
 */
export function watchResponses(): ResponseWatch | undefined {
  return attempt(() => {
    let entries: PerformanceResourceTiming[] = [];
    const add = (more: PerformanceEntryList) => {
      entries = [...entries, ...(more as PerformanceResourceTiming[])].slice(-KEPT);
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: 'resource', buffered: true });
    return {
      sourceOf(sinceMs, bytes) {
        // Chromium before 75 has no `takeRecords`.
        add(observer.takeRecords ? observer.takeRecords() : []);
        const found = entries
          .filter(({ startTime, decodedBodySize }) => decodedBodySize === bytes && startTime > sinceMs - SLACK_MS)
          .pop();
        if (!found) return entries.length > 0 ? undefined : 'unknown';
        const { transferSize, encodedBodySize, workerStart } = found;
        const { deliveryType } = found as { deliveryType?: string };
        // A service worker's responses count as cached, also those that it fetches.
        if (workerStart > 0) return deliveryType === 'cache-storage' ? 'cache' : 'unknown';
        // A cache transfers nothing; a revalidation, headers.
        return transferSize < encodedBodySize ? 'cache' : 'network';
      },
      stop: () => observer.disconnect(),
    };
  });
}

/* What the page itself has loaded before the first media request: evidence of the link, where the browser tells. */

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
