/**
 * Decides which requests are allowed. Any web page can send requests into its visitor's network, so the Host header
 * must not be a name that foreign DNS can point here (DNS rebinding), other origins must be listed, and a token may be
 * required.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopback } from '../../predictor/service-client/needs-tls.ts';

export interface SecurityOptions {
  /** Host names, in addition to `localhost` and IP addresses; lower case, without a port. */
  allowedHosts: readonly string[];
  /** Origins (`https://player.example`), in addition to those on loopback. */
  allowedOrigins: readonly string[];
  /** Required bearer token; undefined: none. */
  token?: string | undefined;
}

/** IP addresses are always allowed, because DNS rebinding needs a name; `localhost` never leaves the machine. */
export function isHostAllowed(header: string | undefined, { allowedHosts }: SecurityOptions): boolean {
  if (header === undefined) return false;
  const host = hostnameOf(`http://${header}`);
  if (host === undefined) return false;
  // IPv6 addresses are in brackets.
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0 || isLoopback(host) || allowedHosts.includes(host);
}

export function isOriginAllowed(origin: string, { allowedOrigins }: SecurityOptions): boolean {
  if (allowedOrigins.includes(origin)) return true;
  const host = /^https?:\/\//.test(origin) ? hostnameOf(origin) : undefined;
  return host !== undefined && isLoopback(host);
}

/** Compares digests, so that the duration reveals neither the first difference nor the token's length. */
export function isTokenRight(header: string | undefined, token: string): boolean {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token)) && given.length > 0;
}

/** To a tenth of a degree, about 10 km: enough for satellites, too little to find a house. */
export function roundedDegrees(degrees: number): number {
  return Math.round(degrees * 10) / 10;
}

function hostnameOf(url: string): string | undefined {
  try {
    const { hostname, username, pathname, search, hash } = new URL(url);
    // Rejects `Host: localhost@evil` and the like.
    return username === '' && pathname === '/' && search === '' && hash === '' ? hostname : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
