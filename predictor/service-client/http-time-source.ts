/** UTC from an HTTP endpoint, for players whose device clock is not reliable. */

import { check } from '../../abr/errors.ts';
import { DEVICE_CLOCK_UNCERTAINTY_SECONDS } from '../../abr/forecast.ts';
import { ServerClock } from './server-clock.ts';

export interface UtcReading {
  /** UTC in ms since 1970. */
  utcMs: number;
  /** The true time is within this of `utcMs`. */
  uncertaintySeconds: number;
}

/** For the plugin's option `timeSource`. */
export interface HttpTimeSource {
  /** UTC now, from the best response so far; from the device's clock before the first response. Never waits. */
  now(): UtcReading;
  /** Resolves after all samples; rejects with the last error if all failed. */
  readonly ready: Promise<UtcReading>;
}

/** Number of requests. The shortest round trip counts. */
const SAMPLES = 5;
const TIMEOUT_MS = 2000;
/** Other times are mistakes (seconds instead of ms, a counter). */
const EARLIEST_UTC_MS = Date.UTC(2000, 0, 1);
const LATEST_UTC_MS = Date.UTC(2200, 0, 1);

/** Requests UTC in ms (plain text or a JSON number) from `url` at once, by the midpoint method (server-clock.ts). */
export function httpTimeSource(url: string): HttpTimeSource {
  check(typeof url === 'string' && url.length > 0, 'httpTimeSource: url', 'a URL', url);
  const clock = new ServerClock();

  const now = () => {
    if (!clock.isKnown) return { utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS };
    const at = performance.now();
    return { utcMs: clock.utcMsAt(at), uncertaintySeconds: clock.uncertaintySecondsAt(at) };
  };
  const sample = async () => {
    const sentMs = performance.now();
    const limit = new AbortController();
    setTimeout(() => limit.abort(), TIMEOUT_MS);
    const response = await fetch(url, { cache: 'no-store', signal: limit.signal });
    const receivedMs = performance.now();
    if (!response.ok) throw new Error(`httpTimeSource: ${url}: expected success, got status ${response.status}`);
    clock.sample(sentMs, receivedMs, parsedUtcMs(await response.text(), url));
  };
  const ask = async () => {
    let failure: unknown;
    // Concurrent requests would lengthen each other's round trips.
    for (let i = 0; i < SAMPLES; i++) {
      await sample().catch((error: unknown) => {
        failure = error;
      });
    }
    if (!clock.isKnown) throw failure;
    return now();
  };
  const ready = ask();
  // No unhandled rejection if the caller does not use `ready`.
  ready.catch(() => {});
  return { now, ready };
}

function parsedUtcMs(text: string, url: string): number {
  const utcMs = Number(text.trim() === '' ? Number.NaN : text);
  if (utcMs >= EARLIEST_UTC_MS && utcMs < LATEST_UTC_MS) return utcMs;
  throw new Error(`httpTimeSource: ${url}: expected UTC in ms, got ${JSON.stringify(text.slice(0, 40))}`);
}
