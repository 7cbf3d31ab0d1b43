/** The path that a request asks for, for routing. */

import type { IncomingMessage } from 'node:http';

/**
 * Path of the request's target, still percent-encoded, without query. Never throws: a client may send any target, and
 * `new URL` fails for some, `//` for one. An absolute target counts by its path (RFC 9112, section 3.2.2).
 */
export function requestPath({ url = '/' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] || '/';
}
