/** Ways in which servers frame media responses, for tests of players: the headers for a body of `bytes`. */

const HEADERS = {
  /** The default, which is not cacheable. */
  length: (bytes: number) => ({ 'content-length': String(bytes) }),
  cacheable: (bytes: number) => ({ 'content-length': String(bytes), 'cache-control': 'public, max-age=3600' }),
  /** The server does not know the length yet. */
  chunked: () => ({}),
  // The next two deliveries need a server (`node/server.ts`), which recognises them by their headers.
  gzip: () => ({ 'content-encoding': 'gzip' }),
  /** The end of the connection ends the body. */
  'http-1.0': () => ({ connection: 'close' }),
} satisfies Record<string, (bytes: number) => Record<string, string>>;

export type Delivery = keyof typeof HEADERS;
export const DELIVERIES = Object.keys(HEADERS) as Delivery[];

export function deliveryHeaders(delivery: Delivery, bytes: number): Record<string, string> {
  return HEADERS[delivery](bytes);
}
