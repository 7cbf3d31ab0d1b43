/** The answers of the origin: texts that any page may read, and refusals with a status. */

import { InputError } from '../../abr/errors.ts';

/** Headers of media responses with the request's trace and session time. Pages may read these headers. */
export const TRACE_SECONDS_HEADER = 'x-trace-seconds';
export const SESSION_SECONDS_HEADER = 'x-session-seconds';
const EXPOSED = [TRACE_SECONDS_HEADER, SESSION_SECONDS_HEADER, 'content-range', 'content-length', 'date'];

export const OPEN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED.join(', '),
  'timing-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
};
export const JSON_TYPE = 'application/json';

export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export function expectMethod({ method }: Request, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  throw new Refusal(405, `expected ${allowed.join(' or ')}, got ${method}`, { allow: allowed.join(', ') });
}

export function textResponse(contentType: string, body: string, { status = 200, headers = {} } = {}): Response {
  const type = { 'content-type': `${contentType}; charset=utf-8` };
  return new Response(body, { status, headers: { ...OPEN_HEADERS, ...headers, ...type } });
}

export const json = (value: unknown, status = 200): Response =>
  textResponse(JSON_TYPE, JSON.stringify(value), { status });

export function refusal(error: unknown): Response {
  const isInput = error instanceof InputError || error instanceof RangeError;
  const { status, headers } = error instanceof Refusal ? error : { status: isInput ? 400 : 500, headers: {} };
  const body = JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
  return textResponse(JSON_TYPE, body, { status, headers });
}
