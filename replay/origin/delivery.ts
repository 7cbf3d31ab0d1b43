/** Ways in which servers frame media responses, for tests of a player with each: the headers for a body of `bytes`. */

const HEADERS = {
  /** Not cacheable; the default. */
  length: (bytes: number) => ({ 'content-length': String(bytes) }),
  cacheable: (bytes: number) => ({ 'content-length': String(bytes), 'cache-control': 'public, max-age=3600' }),
  /** Without Content-Length, as from a server that does not know the length yet. */
  chunked: () => ({}),
  // These two need a server (`node/server.ts`), which sees them by their headers.
  gzip: () => ({ 'content-encoding': 'gzip' }),
  /** The end of the connection ends the body. */
  'http-1.0': () => ({ connection: 'close' }),
} satisfies Record<string, (bytes: number) => Record<string, string>>;

export type Delivery = keyof typeof HEADERS;
export const DELIVERIES = Object.keys(HEADERS) as Delivery[];

export function deliveryHeaders(delivery: Delivery, bytes: number): Record<string, string> {
  return HEADERS[delivery](bytes);
}
