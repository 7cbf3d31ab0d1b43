/** Ways in which servers frame media responses, for tests of a player with each. */

/**
 * - `length`: Content-Length, not cacheable;
 * - `cacheable`: Content-Length, cacheable for an hour;
 * - `chunked`: without Content-Length, as from a server that does not know the length yet;
 * - `gzip`: content-encoded, without Content-Length;
 * - `http-1.0`: without Content-Length; the end of the connection ends the body.
 *
 * The last two need a server (`node/server.ts`), which sees them by their headers.
 */
export const DELIVERIES = ['length', 'cacheable', 'chunked', 'gzip', 'http-1.0'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** The headers of this delivery for a body of `bytes`. */
export function deliveryHeaders(delivery: Delivery, bytes: number): Record<string, string> {
  switch (delivery) {
    case 'length':
      return { 'content-length': String(bytes) };
    case 'cacheable':
      return { 'content-length': String(bytes), 'cache-control': 'public, max-age=3600' };
    case 'gzip':
      return { 'content-encoding': 'gzip' };
    case 'http-1.0':
      return { connection: 'close' };
    default:
      return {};
  }
}
