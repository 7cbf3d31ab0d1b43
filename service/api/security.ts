/**
 * Decides which requests are allowed. Any web page can send requests into its visitor's network. Therefore the Host
 * header must not be a name that foreign DNS can point here (DNS rebinding), other origins must be listed, and a token
 * may be required.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopback } from '../../predictor/service-client/needs-tls.ts';

export interface SecurityOptions {
  /** Names without a port that the Host header may have, besides `localhost` and IP addresses. Default: none. */
  allowedHosts?: readonly string[];
  /** Origins of pages (`https://player.example`) that may send requests, besides loopback. Default: none. */
  allowedOrigins?: readonly string[];
  /** Bearer token that requests must send. Default: none. */
  token?: string | undefined;
}

/** IP addresses are always allowed, because DNS rebinding needs a name; `localhost` never leaves the machine. */
export function isHostAllowed(header: string | undefined, { allowedHosts = [] }: SecurityOptions): boolean {
  const host = header && hostnameOf(`http://${header}`);
  if (!host) return false;
  const isAllowed = allowedHosts.some((name) => name.toLowerCase() === host);
  // An IPv6 address is in brackets.
  return isAllowed || isLoopback(host) || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

export function isOriginAllowed(origin: string, { allowedOrigins = [] }: SecurityOptions): boolean {
  if (allowedOrigins.includes(origin)) return true;
  const host = /^https?:\/\//.test(origin) ? hostnameOf(origin) : undefined;
  return host !== undefined && isLoopback(host);
}

/** Compares digests, so that the duration reveals neither the first wrong character nor the token's length. */
export function isTokenRight(header: string | undefined, token: string): boolean {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token)) && given.length > 0;
}

/** Rounds to a tenth of a degree, about 10 km: enough to find satellites, too coarse to find a house. */
export function roundedDegrees(degrees: number): number {
  return Math.round(degrees * 10) / 10;
}

function hostnameOf(url: string): string | undefined {
  try {
    const { hostname, username, pathname, search, hash } = new URL(url);
    // This rejects `Host: localhost@evil` and similar headers.
    return username === '' && pathname === '/' && search === '' && hash === '' ? hostname : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
