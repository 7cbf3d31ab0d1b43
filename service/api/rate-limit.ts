/** Limits the request rate per address by token buckets, for a bounded number of addresses. */

interface RateLimitOptions {
  /** Sustained rate in requests per second. */
  perSecond: number;
  /** Requests that may come at once after a pause. */
  burst: number;
}

const MOST_ADDRESSES = 4096;

export class RateLimit {
  private readonly _buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(private readonly _options: RateLimitOptions) {}

  /** Returns 0 if the request may pass, otherwise the seconds until a request may pass. */
  take(address: string, nowMs: number): number {
    const { perSecond, burst } = this._options;
    if (this._buckets.size >= MOST_ADDRESSES) this._buckets.clear();
    const bucket = this._buckets.get(address) ?? { tokens: burst, atMs: nowMs };
    this._buckets.set(address, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
    bucket.tokens--;
    return 0;
  }
}
