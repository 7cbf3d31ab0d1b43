/** The host of tests: the timers and clocks of Node or of Jest, and a page with nothing in it. */

import type { Host } from './host.ts';

export const HOST: Host = {
  nowMs: () => performance.now(),
  utcMs: () => Date.now(),
  every(periodMs, action) {
    const timer = setInterval(action, periodMs);
    return () => clearInterval(timer);
  },
  soon: (action) => queueMicrotask(action),
  savesData: () => false,
  isHidden: () => (globalThis as { document?: { hidden?: boolean } }).document?.hidden === true,
  storage: () => undefined,
  fetch: (url) => fetch(url),
  absoluteUrl: (url) => new URL(url),
  linkBps: () => undefined,
  pageLoad: () => undefined,
  watchResponses: () => undefined,
  console: globalThis.console,
};
