/** UTC by an http endpoint that answers with ms: for players whose device clock cannot be trusted. */

/** A moment of UTC, and how far it may be off. */
export interface UtcReading {
  /** ms since 1970. */
  utcMs: number;
  /** The true time is within this of `utcMs`. */
  uncertaintySeconds: number;
}

export interface HttpTimeSourceOptions {
  /** Requests; the one with the shortest round trip counts. A whole number from 1. Default 5. */
  samples?: number;
  /** Until a request is given up. Default 2. */
  timeoutSeconds?: number;
  /** Default: the global `fetch`. */
  fetch?: (url: string, init: { cache: 'no-store'; signal: AbortSignal }) => Promise<HttpTimeResponse>;
  /** A clock that runs evenly, in ms. Default: `performance.now`. */
  now?: () => number;
  /** What is told until the first answer, and where none comes. Default: the device's clock, trusted to 2 s. */
  fallback?: () => UtcReading;
}

/** What is needed of a response. */
export interface HttpTimeResponse {
  ok: boolean;
  status: number;
  text(): Promise<string>;
}

/** Fits the plugin's option `timeSource`. */
export interface HttpTimeSource {
  /** UTC at this moment, by the best answer so far. Never waits. */
  now(): UtcReading;
  /** Resolves when all samples are in (or have failed) and rejects with the last failure when none came. */
  readonly ready: Promise<UtcReading>;
}

/** The local clock drifts by at most so much of the time passed: a quartz and its temperature. */
const DRIFT_SHARE = 50e-6;
const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;
/** UTC before the first day of this year is a mistake (seconds instead of ms, a counter). */
const EARLIEST_UTC_MS = Date.UTC(2000, 0, 1);
const LATEST_UTC_MS = Date.UTC(2200, 0, 1);

/**
 * Asks `url`, which answers with UTC in ms as plain text or a JSON number, by the midpoint method (Cristian 1989): the
 * server read its clock somewhere between the request and the response, so half way is off by at most half the round
 * trip. The sample with the shortest round trip counts. Starts asking at once.
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
    // One after the other: side by side they would lengthen each other's round trips.
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
  // Who does not wait for it is not to be told of an unhandled rejection.
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
