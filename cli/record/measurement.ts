/** One measurement of the link: a download, and the trace of its rates. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../../replay/trace.ts';
import type { Clock } from '../../service/index.ts';

export const ACTIVE_DATASET = 'recorded-active';
const STEP_MS = 100;
/** Left out: TCP's slow start, from the first byte on. */
const WARM_UP_MS = 1000;
const LEAST_STEPS = 10;

export interface DownloadOptions {
  url: URL;
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
  onBytes(bytes: number): void;
}

/**
 * Downloads until it is aborted.
 * @throws {InputError} for a response that cannot measure the link: an error, compressed, or complete
 * @throws if the network fails
 */
export async function download({ url, fetch, signal, onBytes }: DownloadOptions): Promise<never> {
  // Neither a cache in the network nor compression may answer for the link.
  const headers = { 'accept-encoding': 'identity', 'cache-control': 'no-cache, no-store' };
  const response = await fetch(url, { headers, signal });
  const refuse = (got: string): never => {
    throw new InputError('--active', 'a download that lasts for a whole measurement, not compressed', undefined, got);
  };
  try {
    if (!response.ok) refuse(`status ${response.status} of ${url.host}`);
    const encoding = response.headers.get('content-encoding') ?? 'identity';
    if (encoding !== 'identity') refuse(`content-encoding ${encoding} of ${url.host}`);
    let bytes = 0;
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      onBytes(chunk.length);
    }
    return refuse(`the end of the response of ${url.host} after ${bytes} bytes`);
  } finally {
    await response.body?.cancel().catch(() => {});
  }
}

export class Measurement {
  readonly #clock: Clock;
  readonly reason: string;
  /** Times of the first recorded step. */
  #startMs = Number.NaN;
  #startUtcMs = Number.NaN;
  readonly #bits: number[] = [];
  bytes = 0;

  constructor(reason: string, clock: Clock) {
    this.reason = reason;
    this.#clock = clock;
  }

  received(bytes: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.bytes === 0) {
      this.#startMs = nowMs + WARM_UP_MS;
      this.#startUtcMs = this.#clock.utcMs() + WARM_UP_MS;
    }
    this.bytes += bytes;
    const step = Math.floor((nowMs - this.#startMs) / STEP_MS);
    if (step >= 0) this.#bits[step] = (this.#bits[step] ?? 0) + 8 * bytes;
  }

  /** The recorded steps, which have all ended; undefined if they are shorter than a second, or without a bit. */
  trace({ place, source }: { place: string; source: string }): Trace | undefined {
    const steps = Math.max(0, Math.floor((this.#clock.monotonicMs() - this.#startMs) / STEP_MS)) || 0;
    const ratesBps = Float64Array.from({ length: steps }, (_, i) => ((this.#bits[i] ?? 0) * 1000) / STEP_MS);
    if (steps < LEAST_STEPS || !ratesBps.some((rate) => rate > 0)) return undefined;
    const startUtc = new Date(this.#startUtcMs).toISOString();
    return {
      name: `active-${startUtc.replace(/[-:]|\.\d+/g, '')}`,
      stepEndsSeconds: Float64Array.from({ length: steps }, (_, i) => ((i + 1) * STEP_MS) / 1000),
      ratesBps,
      durationSeconds: (steps * STEP_MS) / 1000,
      metadata: {
        dataset: ACTIVE_DATASET,
        recordingGroup: `${place} ${startUtc.slice(0, 10)}`,
        location: place,
        startUtcMs: this.#startUtcMs,
        other: { source, reason: this.reason, downloaded_bytes: this.bytes },
      },
    };
  }
}
