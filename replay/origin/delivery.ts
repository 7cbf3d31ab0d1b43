/** The ways in which servers hand media over, for tests of what a player can make of each. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/**
 * - `length`: Content-Length, not to be kept;
 * - `cacheable`: the same, to be kept for an hour;
 * - `chunked`: without Content-Length, as servers do that do not know the end yet;
 * - `gzip`: compressed on the way, so also without Content-Length (stored blocks: deflated padding would take no time);
 * - `http-1.0`: without Content-Length, its end is the connection's.
 */
export const DELIVERIES = ['length', 'cacheable', 'chunked', 'gzip', 'http-1.0'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** Headers of a body of `bytes` that is delivered so. */
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

/** Sends the head of a response; its body is to be written to what is returned. */
export function beginBody(
  response: ServerResponse,
  delivery: Delivery,
  status: number,
  headers: OutgoingHttpHeaders,
): Writable {
  const { socket } = response;
  if (delivery === 'http-1.0' && socket !== null) {
    // Node's responses are HTTP/1.1 whatever was asked for.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.0 ${status} OK\r\n${lines.join('')}connection: close\r\n\r\n`);
    return socket;
  }
  response.writeHead(status, headers);
  if (delivery !== 'gzip') return response;
  const gzip = createGzip({ level: constants.Z_NO_COMPRESSION, flush: constants.Z_SYNC_FLUSH });
  // Where the client goes away both end.
  pipeline(gzip, response, () => {});
  return gzip;
}
