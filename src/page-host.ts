/** The page as the host of sessions. Nothing is read before a session needs it, so that servers may import the plugin. */

import type { Host, ResponseWatch } from '../session/host.ts';
import { attempt } from '../session/page/attempt.ts';
import { pageLoad } from './page-load.ts';

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
 * An observer of what comes from now on, because the browser's list of entries may be full, or long. An entry is found
 * by the size of its body, because URLs repeat, also in other players, and are redirected. Servers of other origins
 * without `Timing-Allow-Origin` report no sizes.
 */
export function watchResponses(): ResponseWatch | undefined {
  return attempt(() => {
    let entries: PerformanceResourceTiming[] = [];
    const add = (more: PerformanceEntryList) => {
      entries = [...entries, ...(more as PerformanceResourceTiming[])].slice(-KEPT);
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: 'resource' });
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
