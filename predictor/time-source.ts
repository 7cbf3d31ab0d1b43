/** UTC from an HTTP endpoint, for players whose device clock is not reliable. */

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

/** The most that the local clock drifts: a quartz at changing temperatures. */
const DRIFT_SHARE = 50e-6;
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;
/** Times outside these are mistakes (seconds instead of ms, a counter). */
const EARLIEST_UTC_MS = Date.UTC(2000, 0, 1);
const LATEST_UTC_MS = Date.UTC(2200, 0, 1);

/**
 * Requests UTC in ms (plain text or a JSON number) from `url`, at once, by the midpoint method (Cristian 1989): the
 * server reads its clock between request and response, so the middle is wrong by at most half the round trip. The
 * sample with the shortest round trip counts.
 */
export function httpTimeSource(url: string, options: HttpTimeSourceOptions = {}): HttpTimeSource {
  const { samples = 5, timeoutSeconds = 2 } = options;
  expect(typeof url === 'string' && url.length > 0, 'url', 'a URL', url);
  expect(Number.isInteger(samples) && samples >= 1, 'samples', 'a whole number from 1', samples);
  expect(timeoutSeconds > 0 && timeoutSeconds <= 60, 'timeoutSeconds', 'more than 0, at most 60', timeoutSeconds);
  const request = options.fetch ?? ((address, init) => fetch(address, init));
  const localMs = options.now ?? (() => performance.now());
  const fallback =
    options.fallback ?? (() => ({ utcMs: Date.now(), uncertaintySeconds: DEVICE_CLOCK_UNCERTAINTY_SECONDS }));
  let best: { offsetMs: number; halfTripMs: number; atMs: number } | undefined;

  const now = () => {
    if (best === undefined) return fallback();
    const at = localMs();
    const driftMs = Math.abs(at - best.atMs) * DRIFT_SHARE;
    return { utcMs: at + best.offsetMs, uncertaintySeconds: (best.halfTripMs + driftMs) / 1000 };
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
      const utcMs = parsedUtcMs(await response.text(), url);
      const halfTripMs = (receivedMs - sentMs) / 2;
      if (halfTripMs < (best?.halfTripMs ?? Number.POSITIVE_INFINITY)) {
        best = { offsetMs: utcMs - (sentMs + halfTripMs), halfTripMs, atMs: receivedMs };
      }
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
    if (best === undefined) throw failure;
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

function expect(holds: boolean, field: string, expected: string, got: unknown): void {
  if (!holds) throw new RangeError(`httpTimeSource: ${field}: expected ${expected}, got ${String(got)}`);
}
