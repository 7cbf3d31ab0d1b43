/** How many requests an address may send: a token bucket each, and a bound on how many addresses are remembered. */

export interface RateLimitOptions {
  /** Requests per second in the long run. */
  perSecond: number;
  /** Requests at once after a pause. */
  burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const MOST_ADDRESSES = 4096;

export class RateLimit {
  readonly #options: RateLimitOptions;
  /** In order of use: the first one was idle longest. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** 0 where the request may pass, else the seconds after which the next one may. */
  take(address: string, nowMs: number): number {
    const { perSecond, burst } = this.#options;
    const bucket = this.#buckets.get(address) ?? { tokens: burst, atMs: nowMs };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > MOST_ADDRESSES) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
    bucket.tokens--;
    return 0;
  }
}
