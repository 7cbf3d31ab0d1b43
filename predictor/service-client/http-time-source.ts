/** UTC from an HTTP endpoint, for players whose device clock is not reliable. */

import { check } from '../../abr/errors.ts';
import { ServerClock } from './server-clock.ts';

export interface UtcReading {
  /** ms since 1970. */
  utcMs: number;
  /** The true time is within this of `utcMs`. */
  uncertaintySeconds: number;
}

export interface HttpTimeSourceOptions {
  /** Number of requests; the one with the shortest round trip counts. A whole number from 1. Default 5. */
  samples?: number;
  /** Per request. Default 2. */
  timeoutSeconds?: number;
  /** Default: the global `fetch`. */
  fetch?: (
    url: string,
    init: { cache: 'no-store'; signal: AbortSignal },
  ) => Promise<{ ok: boolean; status: number; text(): Promise<string> }>;
  /** A monotonic clock in ms. Default: `performance.now`. */
  now?: () => number;
  /** The time until the first response. Default: the device's clock with an uncertainty of 2 s. */
  fallback?: () => UtcReading;
}

/** For the plugin's option `timeSource`. */
export interface HttpTimeSource {
  /** UTC now, from the best response so far. Never waits. */
  now(): UtcReading;
  /** Resolves after all samples; rejects with the last error if all failed. */
  readonly ready: Promise<UtcReading>;
}

const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;
/** Times outside these are mistakes (seconds instead of ms, a counter). */
const EARLIEST_UTC_MS = Date.UTC(2000, 0, 1);
const LATEST_UTC_MS = Date.UTC(2200, 0, 1);

/**
 * Requests UTC in ms (plain text or a JSON number) from `url`, at once, by the midpoint method (server-clock.ts).
 */
export function httpTimeSource(url: string, options: HttpTimeSourceOptions = {}): HttpTimeSource {
  const { samples = 5, timeoutSeconds = 2 } = options;
  check(typeof url === 'string' && url.length > 0, 'httpTimeSource: url', 'a URL', url);
  check(Number.isInteger(samples) && samples >= 1, 'httpTimeSource: samples', 'a whole number from 1', samples);
  check(
    timeoutSeconds > 0 && timeoutSeconds <= 60,
    'httpTimeSource: timeoutSeconds',
    'more than 0, at most 60',
    timeoutSeconds,
  );
  const request = options.fetch ?? ((address, init) => fetch(address, init));
  const localMs = options.now ?? (() => performance.now());
  const fallback =
    options.fallback ?? (() => ({ utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }));
  const clock = new ServerClock();

  const now = () => {
    if (!clock.isKnown) return fallback();
    const at = localMs();
    return { utcMs: clock.utcMsAt(at), uncertaintySeconds: clock.uncertaintySecondsAt(at) };
  };

  const sample = async () => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeoutSeconds * 1000);
    try {
      const sentMs = localMs();
      const response = await request(url, { cache: 'no-store', signal: abort.signal });
      const receivedMs = localMs();
      if (!response.ok)
        throw new Error(`httpTimeSource: ${url}: expected a response with success, got ${response.status}`);
      clock.sample(sentMs, receivedMs, parsedUtcMs(await response.text(), url));
    } finally {
      clearTimeout(timer);
    }
  };

  const ask = async () => {
    let failure: unknown;
    // In sequence, because concurrent requests would lengthen each other's round trips.
    for (let i = 0; i < samples; i++) {
      try {
        await sample();
      } catch (error) {
        failure = error;
      }
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
