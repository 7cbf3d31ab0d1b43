/** The simulator as the host of sessions: a clock that jumps from event to event, and a page that has nothing else. */

import type { Host } from '../../session/host.ts';
import type { EventQueue } from './event-queue.ts';

/** `run` brings the player's state up to now, then runs a timer's action. */
export function virtualHost(queue: EventQueue, run: (action: () => void) => void, utcMs: () => number): Host {
  return {
    nowMs: () => queue.nowSeconds * 1000,
    utcMs,
    every(periodMs, action) {
      const tick = () => {
        event = next();
        run(action);
      };
      const next = () => queue.at(queue.nowSeconds + periodMs / 1000, tick);
      let event = next();
      return () => queue.cancel(event);
    },
    soon: (action) => queue.soon(action),
    savesData: () => false,
    isHidden: () => false,
    storage: () => undefined,
    fetch: () => Promise.reject(new Error('the simulator has no network')),
    absoluteUrl: (url) => new URL(url),
    linkBps: () => undefined,
    pageLoad: () => undefined,
    // The simulator has no cache.
    watchResponses: () => ({ sourceOf: () => 'network', stop() {} }),
    console: { warn() {}, debug() {} },
  };
}
