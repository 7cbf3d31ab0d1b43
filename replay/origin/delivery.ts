/** Ways in which servers frame media responses, for tests of a player with each. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/**
 * - `length`: Content-Length, not cacheable;
 * - `cacheable`: Content-Length, cacheable for an hour;
 * - `chunked`: without Content-Length, as from a server that does not know the length yet;
 * - `gzip`: content-encoded, without Content-Length (stored blocks, because padding would compress to almost nothing);
 * - `http-1.0`: without Content-Length; the end of the connection ends the body.
 */
export const DELIVERIES = ['length', 'cacheable', 'chunked', 'gzip', 'http-1.0'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** The headers of this delivery for a body of `bytes`. */
export function deliveryHeaders(delivery: Delivery, bytes: number): OutgoingHttpHeaders {
  switch (delivery) {
    case 'length':
      return { 'content-length': bytes };
    case 'cacheable':
      return { 'content-length': bytes, 'cache-control': 'public, max-age=3600' };
    case 'gzip':
      return { 'content-encoding': 'gzip' };
    default:
      return {};
  }
}

/** Sends the head of a response and returns the stream for its body. */
export function beginBody(
  response: ServerResponse,
  delivery: Delivery,
  status: number,
  headers: OutgoingHttpHeaders,
): Writable {
  const { socket } = response;
  if (delivery === 'http-1.0' && socket !== null) {
    // Node writes HTTP/1.1 responses only.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.0 ${status} OK\r\n${lines.join('')}connection: close\r\n\r\n`);
    return socket;
  }
  response.writeHead(status, headers);
  if (delivery !== 'gzip') return response;
  const gzip = createGzip({ level: constants.Z_NO_COMPRESSION, flush: constants.Z_SYNC_FLUSH });
  // `pipeline` ends both streams if the client disconnects.
  pipeline(gzip, response, () => {});
  return gzip;
}
