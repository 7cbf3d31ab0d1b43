/** The page as the host of sessions. Nothing is read before a session needs it, so that servers may import the plugin. */

import type { Host } from '../session/host.ts';
import { attempt } from '../session/page/attempt.ts';
import { pageLoad } from './page-load.ts';
import { watchResponses } from './response-watch.ts';

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
