/** The path of a request, for routing. */

import type { IncomingMessage } from 'node:http';

/**
 * The path of the request's target, percent-encoded, without query; of an absolute target its path (RFC 9112, section
 * 3.2.2). Never throws, unlike `new URL`, which rejects targets such as `//`.
 */
export function requestPath({ url = '/' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] || '/';
}
